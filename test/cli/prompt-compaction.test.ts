import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FakeTerminal } from "../support/cli-terminal.js";
import { beginsAndHangs, fails, says, scripted } from "../support/scripted-provider.js";

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const prompt = "› ";

test("/compact summarizes with the given instructions, and /context shows the result", async () => {
  const model = scripted([says("The answer is long. ".repeat(50)), says("They talked."), says("Yes.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("/compact\r");
  await terminal.shows("This conversation has no messages yet.\n");
  terminal.type("/context\r");
  await terminal.shows("This conversation has no messages yet.\n");
  terminal.type("talk\r");
  await terminal.shows("The answer is long.");
  await terminal.shows(prompt);
  terminal.type("/context\r");
  await terminal.shows("scripted: ");
  await terminal.shows("128k tokens (assumed)");
  await terminal.shows("The answer is long.");
  await terminal.shows(prompt);
  terminal.type("/compact mind the numbers\r");
  await terminal.tells("Compacting context (");
  await terminal.tells("Context compacted: ");
  expect(JSON.stringify(model.requests[1]?.input)).toContain("mind the numbers");
  await terminal.shows(prompt);
  terminal.type("/context\r");
  await terminal.shows("  summary ");
  terminal.type("and now?\r");
  await terminal.shows("Yes.\n");
  expect(JSON.stringify(model.requests[2]?.input)).toContain("They talked.");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

test("Ctrl-C during a compaction cancels it and keeps the history", async () => {
  const model = scripted([says("One."), beginsAndHangs("They"), says("Two.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("first\r");
  await terminal.shows("One.\n");
  await terminal.shows(prompt);
  terminal.type("/compact\r");
  await terminal.tells("Compacting context (");
  // An earlier interrupt would leave the answer for the next turn.
  await expect.poll(() => model.requests.length).toBe(2);
  terminal.type(ctrlC);
  await terminal.tells("Interrupted.\n");
  await terminal.shows(prompt);
  terminal.type("second\r");
  await terminal.shows("Two.\n");
  expect(JSON.stringify(model.requests[2]?.input)).toContain("One.");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(await savedText(terminal)).not.toContain('"type":"compacted"');
});

test("/pin adds an instruction that survives a compaction", async () => {
  const model = scripted([says("One."), says("They talked."), says("Two.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("/pin\r");
  await terminal.tells("✗ Missing text. Usage: /pin <text>\n");
  terminal.type("/pin never touch the migrations\r");
  await terminal.shows("Pinned: never touch the migrations\n");
  terminal.type("first\r");
  await terminal.shows("One.\n");
  await terminal.shows(prompt);
  terminal.type("/compact\r");
  await terminal.tells("Context compacted: ");
  terminal.type("second\r");
  await terminal.shows("Two.\n");
  expect(JSON.stringify(model.requests[2]?.input)).toContain("never touch the migrations");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

test("when summarizing fails the history is kept, one error is shown, and cody compact fails", async () => {
  const terminal = await FakeTerminal.open(scripted([says("One."), fails("auth", false), fails("auth", false)]));
  expect(await terminal.run("chat", "first")).toBe(0);
  expect(await terminal.run("compact")).toBe(1);
  expect(terminal.errors.split("Compression failed, conversation may hit limits soon")).toHaveLength(2);
  expect(terminal.screen).toBe("One.\n");
  expect(await terminal.run("compact", "--json")).toBe(1);
  expect(JSON.parse(terminal.screen.slice("One.\n".length))).toMatchObject({ status: "kept" });
  expect(await savedText(terminal)).not.toContain('"type":"compacted"');
});

test("/help lists the compaction commands", async () => {
  const terminal = await FakeTerminal.open(scripted([]));
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("/help\r");
  for (const usage of ["/context ", "/compact [instructions] ", "/pin <text> "]) await terminal.shows(usage);
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

async function savedText(terminal: FakeTerminal): Promise<string> {
  const folder = join(terminal.home, "conversations");
  const name = (await readdir(folder)).find((entry) => entry.endsWith(".jsonl"));
  return await readFile(join(folder, name ?? ""), "utf8");
}
