import * as fc from "fast-check";
import { expect, test } from "vitest";
import { brokenLines, helpTable } from "../../src/cli/help-table.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { scripted } from "../support/scripted-provider.js";

const rows = [
  ["new", "Start a conversation and print its id"],
  ["chat [...text]", "Say something in the active conversation; without a text it is read from stdin"],
] as const;

test("a file and a pipe get one line for each row", () => {
  expect(helpTable(rows, undefined)).toEqual([
    "  new             Start a conversation and print its id",
    "  chat [...text]  Say something in the active conversation; without a text it is read from stdin",
  ]);
});

test("a terminal gets lines that fit, wrapped between words and aligned", () => {
  expect(helpTable(rows, 60)).toEqual([
    "  new             Start a conversation and print its id",
    "  chat [...text]  Say something in the active conversation;",
    "                  without a text it is read from stdin",
  ]);
});

test("on a narrow terminal the description is below the name", () => {
  expect(helpTable(rows, 40)).toEqual([
    "  new",
    "      Start a conversation and print its",
    "      id",
    "  chat [...text]",
    "      Say something in the active",
    "      conversation; without a text it is",
    "      read from stdin",
  ]);
});

test("no word is lost or cut at any width", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,12}$/)), fc.integer({ min: -5, max: 40 }), (words, room) => {
      const lines = brokenLines(words.join(" "), room);
      expect(lines.join(" ")).toBe(words.join(" "));
      for (const line of lines) expect(line.length <= room || !line.includes(" ")).toBe(true);
    }),
  );
});

test.each([["--help"], ["chat", "--help"]])("%s %s fits a terminal of 80 columns", async (...args) => {
  const terminal = await FakeTerminal.open(scripted([]));
  expect(await terminal.run(...args)).toBe(0);
  expect(tooLong(terminal.screen)).toEqual([]);
});

test("/help fits a terminal of 80 columns", async () => {
  const terminal = await FakeTerminal.open(scripted([]));
  const running = terminal.run();
  await terminal.shows("› ");
  terminal.type("/help\r");
  await terminal.shows("  /quit ");
  terminal.type("/exit\r");
  await running;
  const help = terminal.screen.slice(terminal.screen.indexOf("Commands:"), terminal.screen.indexOf("/quit"));
  expect(tooLong(help)).toEqual([]);
});

function tooLong(text: string): string[] {
  return text.split("\n").filter((line) => line.length > 80);
}
