import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

test("every line of stdin is a message, answered in order in one conversation", async () => {
  const cli = await Cli.open();
  const input = "My name is Alice\r\n\nWhat is my name?\nWhat is 6 * 7?";
  expect(await cli.run([], { input })).toMatchObject({
    code: 0,
    stdout: "Noted: your name is Alice.\nYou told me: your name is Alice.\n6 * 7 = 42\n",
  });
  const [id = "", ...others] = await cli.ids();
  expect(others).toEqual([]);
  expect(await cli.said(id)).toEqual(["My name is Alice", "What is my name?", "What is 6 * 7?"]);
});

test("the conversation of a run without a command becomes the active one", async () => {
  const cli = await Cli.open();
  await cli.run([], { input: "My name is Alice\n" });
  expect((await cli.run(["chat", "What is my name?"])).stdout).toBe("You told me: your name is Alice.\n");
});

test("empty stdin creates no conversation", async () => {
  const cli = await Cli.open();
  expect(await cli.run([])).toMatchObject({ code: 0, stdout: "" });
  expect(await cli.ids()).toEqual([]);
});

test.each([[["--resume"]], [["--continue"]]])("%j continues the newest conversation", async (flags) => {
  const cli = await Cli.open();
  await cli.run(["chat", "My name is Alice"]);
  const { stdout, stderr } = await cli.run(flags, { input: "What is my name?\n" });
  expect(stdout).toBe("You told me: your name is Alice.\n");
  expect(stderr).toContain("Resumed conversation with 2 messages");
  expect(await cli.ids()).toHaveLength(1);
});

test("--resume without any conversation starts one with a notice, an unknown id is an error", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["--resume"], { input: "hello\n" })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("No saved conversation in this project: starting a new one"),
  });
  expect(await cli.run(["--resume", "conv_nobody"], { input: "hello\n" })).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "✗ Conversation 'conv_nobody' not found\n  List available: cody list\n",
  });
});

test("each run without a command starts its own conversation", async () => {
  const cli = await Cli.open();
  await cli.run([], { input: "one\n" });
  await cli.run([], { input: "two\n" });
  expect(await cli.ids()).toHaveLength(2);
});

test("with --json the events of all lines are lines of JSON", async () => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(["--json"], { input: "one\n/status\ntwo\n" });
  const types = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).msg.type);
  expect(types.filter((type) => type === "task_complete")).toHaveLength(2);
});

test("slash commands work in piped lines, and other text is a message", async () => {
  const cli = await Cli.open();
  const input = "My name is Alice\n/clear\nWhat is my name?\n/usr/bin/env is missing\n/nonsense\n/exit\nnever sent\n";
  const { code, stdout } = await cli.run([], { input });
  expect(code).toBe(0);
  expect(stdout).toContain("Conversation history cleared.\n");
  expect(stdout).toContain("You have not told me that yet.\n");
  const said = await Promise.all((await cli.ids()).toSorted().map((id) => cli.said(id)));
  expect(said).toEqual([["My name is Alice"], ["What is my name?", "/usr/bin/env is missing", "/nonsense"]]);
});

test("a run without the key its provider needs says so and exits with 1", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["--provider", "anthropic"], { input: "hello\n" })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("ANTHROPIC_API_KEY environment variable is required."),
  });
});
