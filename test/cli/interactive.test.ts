import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { version } from "../../src/version.js";
import { userTexts } from "../support/cli-effects.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { beginsAndHangs, fails, says, scripted } from "../support/scripted-provider.js";

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const prompt = "› ";
const bracketedPasteOff = "\u001b[?2004l";

test("the interactive prompt greets, answers, and ends with /exit", async () => {
  const terminal = await FakeTerminal.open(scripted([says("Good morning.")]));
  const running = terminal.run();
  await terminal.shows(`cody ${version}, scripted (scripted), conv_`);
  await terminal.shows(prompt);
  expect(await conversationFiles(terminal)).toEqual([]);
  terminal.type("hello\r");
  await terminal.shows("Good morning.\n");
  await terminal.shows(prompt);
  expect(await conversationFiles(terminal)).toHaveLength(1);
  terminal.type("/exit\r");
  expect(await running).toBe(0);
});

test("/status shows the conversation and /help the commands", async () => {
  const terminal = await FakeTerminal.open(scripted([says("Yes.")]));
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("/status\r");
  await terminal.shows("Turns: 0\nTokens: 0\nFile: none yet\n");
  terminal.type("hello\r");
  await terminal.shows("Yes.\n");
  terminal.type("/status\r");
  await terminal.shows("Provider: scripted (scripted)\nTurns: 1\nTokens: 15\nFile: ");
  terminal.type("/help\r");
  for (const name of ["/help", "/status", "/clear", "/exit", "/quit"]) await terminal.shows(name);
  terminal.type("/frob\r");
  await terminal.tells("✗ Unknown command /frob. Type /help for commands.\n");
  terminal.type("/quit\r");
  expect(await running).toBe(0);
});

test("a command without arguments rejects arguments and does nothing", async () => {
  const terminal = await FakeTerminal.open(scripted([]));
  const running = terminal.run();
  await terminal.shows(prompt);
  for (const name of ["help", "status", "context", "undo", "mcp", "clear", "exit", "quit"]) {
    terminal.type(`/${name} 2\r`);
    await terminal.tells(`✗ /${name} takes no arguments; nothing was done. Type /help for commands.\n`);
  }
  terminal.type("/exit\r");
  expect(await running).toBe(0);
});

const asPaste = (text: string): string => `\u001b[200~${text.replaceAll("\n", "\r")}\u001b[201~`;

test("a paste of several lines is one message, sent with Enter", async () => {
  const model = scripted([says("Yes."), says("Two.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows("\u001b[?2004h");
  await terminal.shows(prompt);
  terminal.type(`look: ${asPaste("first\n\n  second\nthird")}`);
  await terminal.shows("third");
  terminal.type(" line\r");
  await terminal.shows("Yes.\n");
  await terminal.shows(prompt);
  terminal.type(asPaste("thrown\naway"));
  await terminal.shows("away");
  terminal.type(ctrlC);
  await terminal.shows(prompt);
  terminal.type("next\r");
  await terminal.shows("Two.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(model.requests.map((request) => userTexts(request).at(-1))).toEqual([
    "look: first\n\n  second\nthird line",
    "next",
  ]);
  await terminal.shows("\u001b[?2004l");
});

test("a paste during an answer is shown after it and waits for Enter", async () => {
  const model = scripted([beginsAndHangs("I am"), says("Done.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("go\r");
  await terminal.shows("I am");
  terminal.type(asPaste("one\ntwo"));
  terminal.type(ctrlC);
  await terminal.tells("Interrupted.");
  await terminal.shows("› one\n");
  terminal.type("\r");
  await terminal.shows("Done.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(userTexts(model.requests.at(-1)).at(-1)).toBe("one\ntwo");
});

test("a dumb terminal gets no control sequences for paste", async () => {
  const terminal = await FakeTerminal.open(scripted([]), { env: { TERM: "dumb" } });
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("/exit\r");
  await running;
  expect(terminal.screen).not.toContain("2004");
});

test("/clear starts a new conversation and does not change the old file", async () => {
  const model = scripted([says("One."), says("Two.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("first\r");
  await terminal.shows("One.\n");
  await terminal.shows(prompt);
  const [old = ""] = await conversationFiles(terminal);
  const before = await readFile(old, "utf8");
  terminal.type("/clear\r");
  await terminal.shows("Conversation history cleared.\n");
  terminal.type("second\r");
  await terminal.shows("Two.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(await conversationFiles(terminal)).toHaveLength(2);
  expect(await readFile(old, "utf8")).toBe(before);
  expect(JSON.stringify(model.requests[1]?.input)).not.toContain("first");
});

test("--continue shows the number of messages", async () => {
  const model = scripted([says("One."), says("Two.")]);
  const terminal = await FakeTerminal.open(model);
  expect(await terminal.run("chat", "first")).toBe(0);
  const running = terminal.run("--continue");
  await terminal.shows("Resumed conversation with 2 messages\n");
  await terminal.shows(prompt);
  terminal.type("second\r");
  await terminal.shows("Two.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(JSON.stringify(model.requests[1]?.input)).toContain("first");
});

test("Ctrl-C during a turn aborts it and returns to the prompt", async () => {
  const terminal = await FakeTerminal.open(scripted([beginsAndHangs("Well, "), says("Done.")]));
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("think\r");
  await terminal.shows("Well, ");
  terminal.type(ctrlC);
  await terminal.tells("Interrupted.\n");
  await terminal.shows(prompt);
  const [file = ""] = await conversationFiles(terminal);
  expect(await readFile(file, "utf8")).toContain('"type":"turn_aborted"');
  terminal.type("again\r");
  await terminal.shows("Done.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(terminal.exits).toEqual([]);
});

test("a second Ctrl-C before the turn has ended ends the process", async () => {
  const terminal = await FakeTerminal.open(scripted([beginsAndHangs("Well, ")]));
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("think\r");
  await terminal.shows("Well, ");
  terminal.type(ctrlC + ctrlC);
  // The terminal's mode is restored.
  await terminal.shows("\u001b[?2004l");
  expect(terminal.exits).toEqual([130]);
  await running;
});

test("Ctrl-C at an empty prompt shows a hint, and a second one exits with 130", async () => {
  const terminal = await FakeTerminal.open(scripted([]));
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type(ctrlC);
  await terminal.shows("Press Ctrl-C again to exit, or type /exit.\n");
  await terminal.shows(prompt);
  terminal.type(ctrlC);
  expect(await running).toBe(130);
  expect(terminal.exits).toEqual([]);
});

test("Ctrl-C discards an unfinished line", async () => {
  const model = scripted([says("Yes.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type(`do not send this${ctrlC}`);
  await terminal.shows("\n");
  await terminal.shows(prompt);
  terminal.type("send this\r");
  await terminal.shows("Yes.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  const sent = JSON.stringify(model.requests[0]?.input);
  expect(sent).toContain('"send this"');
  expect(sent).not.toContain("do not");
});

test("input typed during a turn is sent after it", async () => {
  const model = scripted([beginsAndHangs("Well, "), says("Second."), says("Third.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("one\r");
  await terminal.shows("Well, ");
  terminal.type(`two\rthree\r${ctrlC}`);
  await terminal.shows("› two\n");
  await terminal.shows("Second.\n");
  await terminal.shows("› three\n");
  await terminal.shows("Third.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

test("control characters in an answer do not reach the terminal", async () => {
  const terminal = await FakeTerminal.open(scripted([says("\u001b]0;owned\u0007 \u202eevil\r\n\tkept")]));
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("hello\r");
  await terminal.shows("␛]0;owned␇ \u{fffd}evil\n\tkept\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(terminal.screen).not.toContain("\u001b]");
});

test("a failed turn is reported and the prompt returns", async () => {
  const terminal = await FakeTerminal.open(scripted([fails("auth", false), says("Better.")]));
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("hello\r");
  await terminal.tells("✗ the model failed: auth\n");
  await terminal.shows(prompt);
  terminal.type("hello\r");
  await terminal.shows("Better.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s at the prompt and during a turn exits with %i", async (name, code) => {
  const terminal = await FakeTerminal.open(scripted([beginsAndHangs("Well, ")]));
  const idle = terminal.run();
  await terminal.shows(prompt);
  terminal.signal(name);
  expect(await idle).toBe(code);
  expect(terminal.screen.endsWith(`\n${bracketedPasteOff}`)).toBe(true);
  const busy = await FakeTerminal.open(scripted([beginsAndHangs("Well, ")]));
  const running = busy.run();
  await busy.shows(prompt);
  busy.type("think\r");
  await busy.shows("Well, ");
  busy.signal(name);
  expect(await running).toBe(code);
  expect(textAfter(busy.screen, "Well, ")).toBe(`\n${bracketedPasteOff}`);
  const [file = ""] = await conversationFiles(busy);
  expect(await readFile(file, "utf8")).toContain('"type":"turn_aborted"');
});

test("Ctrl-D typed ahead exits after the last answer, without another prompt", async () => {
  const terminal = await FakeTerminal.open(scripted([says("Good morning.")]));
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type(`hello\r${ctrlD}`);
  expect(await running).toBe(0);
  expect(textAfter(terminal.screen, "Good morning.")).toBe(`\n${bracketedPasteOff}`);
});

test("chat exits with 1 when the turn fails, with the reason on stderr", async () => {
  const terminal = await FakeTerminal.open(scripted([fails("overloaded", false)]));
  expect(await terminal.run("chat", "hello")).toBe(1);
  expect(terminal.errors).toContain("✗ the model failed: overloaded\n");
});

function textAfter(screen: string, text: string): string {
  return screen.slice(screen.indexOf(text) + text.length);
}

async function conversationFiles(terminal: FakeTerminal): Promise<string[]> {
  const folder = join(terminal.home, "conversations");
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
}
