import { expect, test } from "vitest";
import { userTexts } from "../support/cli-effects.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { says, scripted } from "../support/scripted-provider.js";

const [up, down, left] = ["\u001b[A", "\u001b[B", "\u001b[D"];
const [ctrlA, ctrlC, ctrlN, ctrlP] = ["\u0001", "\u0003", "\u000e", "\u0010"];

/** Sends "first" and "second", then types the keys and Enter; resolves with the last message the model received. */
async function sentAfter(keys: string): Promise<string | undefined> {
  const model = scripted([says("One."), says("Two."), says("Three.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows("› ");
  terminal.type("first\r");
  await terminal.shows("One.\n");
  terminal.type("second\r");
  await terminal.shows("Two.\n");
  await terminal.shows("› ");
  terminal.type(`${keys}\r`);
  await terminal.shows("Three.\n");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
  return userTexts(model.requests.at(-1)).at(-1);
}

test.each([
  ["Up in the middle of a line, then Down", `a long message${left.repeat(7)}${up}${down}`, "a long message"],
  ["Up at the beginning of a line, then Down", `a long message${ctrlA}${up}${down}`, "a long message"],
  [
    "Up twice in the middle, then Down twice",
    `a long message${left.repeat(7)}${up}${up}${down}${down}`,
    "a long message",
  ],
  ["Up beyond the oldest, then Down beyond the newest", `draft${left}${up.repeat(9)}${down.repeat(9)}`, "draft"],
  ["Ctrl-P and Ctrl-N", `draft${left}${ctrlP}${ctrlN}`, "draft"],
  ["Down alone", `draft${left}${down}`, "draft"],
  ["Up", up, "second"],
  ["Up twice in the middle of a line", `draft${left}${up}${up}`, "first"],
  ["Up with an edit, Up, Down", `${up} time${up}${down}`, "second time"],
  ["Up with an edit and Ctrl-C, then Up", `${up} time${ctrlC}${up}`, "second"],
])("%s sends the whole line", async (_, keys, sent) => {
  expect(await sentAfter(keys)).toBe(sent);
});
