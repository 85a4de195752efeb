import { expect, test } from "vitest";
import { version } from "../../src/version.js";
import { Cli } from "../support/cli.js";
import { TmuxScreen } from "../support/cli-tmux.js";

const greeting = `cody ${version}, offline (offline), conv_`;
const limits = "Limits of a turn: 200 steps, 3600 s, 10M tokens, no limit of cost";

test("the prompt greets, mentions the offline model, answers, and exits on Ctrl-D", async () => {
  const cli = await Cli.open({ spawned: true });
  const screen = await TmuxScreen.open(cli, ["--plain"]);
  await screen.shows("No OPENAI_API_KEY or ANTHROPIC_API_KEY is set: using the built-in offline model.");
  await screen.shows(greeting);
  await screen.shows("Type /help for commands.");
  await screen.prompts();
  await screen.enter("What is 6 * 7?");
  await screen.shows("> What is 6 * 7?\n6 * 7 = 42\n>");
  await screen.press("C-d");
  expect(await screen.ends()).toBe(0);
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["What is 6 * 7?"]);
});

test("/status shows the conversation, /clear starts another, and an unknown command is reported", async () => {
  const cli = await Cli.open({ spawned: true });
  const screen = await TmuxScreen.open(cli, ["--plain"]);
  await screen.prompts();
  await screen.enter("/status");
  await screen.shows(`Turns: 0\nTokens: 0\nFile: none yet\n${limits}\n>`);
  await screen.enter("my name is Alice");
  await screen.shows("Noted: your name is Alice.\n>");
  const [id = ""] = await cli.ids();
  await screen.enter("/status");
  await screen.shows(`Conversation: ${id}\nProvider: offline (offline)\nTurns: 1\n`);
  await screen.shows(`File: ${cli.conversations}/${id}.jsonl\n${limits}\n>`);
  await screen.enter("/clear");
  await screen.shows("Conversation history cleared.\nConversation: conv_");
  await screen.prompts();
  await screen.enter("What is my name?");
  await screen.shows("You have not told me that yet.\n>");
  await screen.enter("/frob");
  await screen.shows("Error: Unknown command /frob. Type /help for commands.\n>");
  expect(await cli.ids()).toHaveLength(2);
  expect(await cli.said(id)).toEqual(["my name is Alice"]);
});

test("Ctrl-C at the prompt shows a hint, and a second one exits with 130", async () => {
  const screen = await TmuxScreen.open(await Cli.open({ spawned: true }), ["--plain"]);
  await screen.prompts();
  await screen.press("C-c");
  await screen.shows("Press Ctrl-C again to exit, or type /exit.\n>");
  await screen.press("C-c");
  expect(await screen.ends()).toBe(130);
});

test("Ctrl-C during an answer stops it, and the conversation continues", async () => {
  const cli = await Cli.open({ spawned: true });
  const screen = await TmuxScreen.open(cli, ["--plain"], { middle: "hold" });
  await screen.prompts();
  await screen.enter("hello");
  await screen.shows("I am cody's offline model");
  await screen.press("C-c");
  await screen.shows("Interrupted.\n>");
  await screen.enter("my name is Alice");
  await screen.shows("Noted: your name is Alice.\n>");
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["hello", "my name is Alice"]);
});

test("SIGTERM during an answer ends it without another prompt", async () => {
  const screen = await TmuxScreen.open(await Cli.open({ spawned: true }), ["--plain"], { middle: "hold" });
  await screen.prompts();
  await screen.enter("hello");
  await screen.shows("I am cody's offline model");
  await screen.kill("SIGTERM");
  expect(await screen.ends()).toBe(143);
  expect(await screen.text()).toContain("\nInterrupted.\n");
  expect(await screen.text()).not.toMatch(/^>\s*$/m);
});

test("SIGTERM at the prompt ends its line", async () => {
  const screen = await TmuxScreen.open(await Cli.open({ spawned: true }), ["--plain"]);
  await screen.prompts();
  await screen.type("half a line");
  await screen.shows("> half a line");
  await screen.kill("SIGTERM");
  expect(await screen.ends()).toBe(143);
  await screen.shows("\n> half a line\n");
});

test("--continue shows the number of messages and sends them to the model", async () => {
  const cli = await Cli.open({ spawned: true });
  await cli.run(["chat", "my name is Alice"]);
  const screen = await TmuxScreen.open(cli, ["--plain", "--continue"]);
  await screen.shows("Resumed conversation with 2 messages\n");
  await screen.prompts();
  await screen.enter("What is my name?");
  await screen.shows("You told me: your name is Alice.\n>");
  expect(await cli.ids()).toHaveLength(1);
});

test("after kill -9 during an answer --continue still has the earlier messages", async () => {
  const cli = await Cli.open({ spawned: true });
  const killed = await TmuxScreen.open(cli, ["--plain"], { middle: "hold" });
  await killed.prompts();
  await killed.enter("my name is Alice");
  await killed.shows("Noted: your name is Alice.\n>");
  await killed.enter("hello");
  await killed.shows("I am cody's offline model");
  await killed.kill();
  expect(await killed.ends()).toBe(137);
  const screen = await TmuxScreen.open(cli, ["--plain", "--continue"]);
  await screen.shows("Resumed conversation with ");
  await screen.prompts();
  await screen.enter("What is my name?");
  await screen.shows("You told me: your name is Alice.\n>");
  expect(await cli.ids()).toHaveLength(1);
});

test("a terminal of 40 columns wraps input and answers without losing text", async () => {
  const columns = 40;
  const cli = await Cli.open({ spawned: true });
  const screen = await TmuxScreen.open(cli, ["--plain"], { columns });
  await screen.prompts();
  const begun = "my favourite colour is ";
  const takenBack = "a rather pale kind of blue, and my name is Bob";
  const kept = "orange and nothing else. And my name is Alice";
  await screen.type(begun + takenBack);
  await screen.shows(`> ${begun}${takenBack}\n`);
  // Back to the first row and forward to the second again.
  await screen.press("-N", String(takenBack.length), "BSpace");
  await screen.shows(`> ${begun}\n`);
  await screen.enter(kept);
  await screen.shows(`> ${begun}${kept}\nNoted: `);
  await screen.prompts();
  await screen.enter("What is my name?");
  await screen.shows("You told me: your name is Alice.\n>");
  const widths = (await screen.lines()).map((shown) => shown.length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual([begun + kept, "What is my name?"]);
});

test("Up and Down in the middle of a line keep the typed text", async () => {
  const cli = await Cli.open({ spawned: true });
  const screen = await TmuxScreen.open(cli, ["--plain"]);
  await screen.prompts();
  await screen.enter("What is 6 * 7?");
  await screen.shows("6 * 7 = 42\n>");
  await screen.type("my name is Alice");
  await screen.press("Left", "Left", "Left", "Left", "Left", "Up");
  await screen.shows("6 * 7 = 42\n> What is 6 * 7?");
  await screen.press("Down");
  await screen.shows("6 * 7 = 42\n> my name is Alice");
  await screen.press("Enter");
  await screen.shows("Noted: your name is Alice.\n>");
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["What is 6 * 7?", "my name is Alice"]);
});
