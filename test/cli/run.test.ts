import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BatchResult } from "../../src/messages/batch.js";
import { Cli } from "../support/cli.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { calls, says, scripted } from "../support/scripted-provider.js";
import { Emulator } from "../terminal/support/emulator.js";

/** The rows that a terminal shows after these writes. */
async function rowsAfter(text: string): Promise<string[]> {
  const emulator = new Emulator();
  await emulator.write(text.replaceAll(/(?<!\r)\n/g, "\r\n"));
  return emulator.transcript();
}

const offline = ["--provider", "offline"];

async function taskFile(cli: Cli, tasks: readonly object[]): Promise<void> {
  await writeFile(join(cli.project, "tasks.jsonl"), tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
}

function lines(text: string): BatchResult[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as BatchResult);
}

test("run answers every line, on stdout without a results file", async () => {
  const cli = await Cli.open();
  const input = '{"key":"a","prompt":"What is 2+2?"}\n\n{"key":"b","prompt":"What is 3+3?"}\n';
  const { code, stdout, stderr } = await cli.run(["run", "-", ...offline], { input });
  expect(code).toBe(0);
  expect(lines(stdout).toSorted((one, other) => one.key.localeCompare(other.key))).toMatchObject([
    { key: "a", status: "done", answer: expect.stringContaining("4") },
    { key: "b", status: "done", answer: expect.stringContaining("6") },
  ]);
  expect(stderr).toContain("2 done, 0 failed");
});

test("run again with the same results file skips what is finished and ignores a torn line", async () => {
  const cli = await Cli.open();
  await taskFile(cli, [{ prompt: "What is 2+2?" }, { prompt: "What is 3+3?" }]);
  const args = ["run", "tasks.jsonl", "-o", "results.jsonl", "--concurrency", "1", ...offline];
  expect(await cli.run(args)).toMatchObject({ code: 0, stdout: "" });
  const results = join(cli.project, "results.jsonl");
  const before = await readFile(results, "utf8");
  await writeFile(results, '{"key":"torn', { flag: "a" });
  await taskFile(cli, [{ prompt: "What is 2+2?" }, { prompt: "What is 3+3?" }, { prompt: "What is 4+4?" }]);
  expect(await cli.run(args)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("2 tasks finished before: skipped"),
  });
  const after = await readFile(results, "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect(lines(after).map(({ answer }) => answer)).toEqual([
    expect.stringContaining("4"),
    expect.stringContaining("6"),
    expect.stringContaining("8"),
  ]);
  expect(await cli.ids()).toHaveLength(3);
});

test.each([
  ["a task that is no JSON", '{"prompt":"ok"}\nnot json\n', "stdin, line 2"],
  ["an unknown field", '{"prompt":"ok","colour":1}\n', "stdin, line 1"],
  ["no tasks", "\n", "stdin contains no tasks"],
])("%s is reported before any task begins", async (_name, input, reason) => {
  const cli = await Cli.open();
  expect(await cli.run(["run", ...offline], { input })).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining(reason),
  });
  expect(await cli.ids()).toEqual([]);
});

test("a results file that something else has written is not touched", async () => {
  const cli = await Cli.open();
  await taskFile(cli, [{ prompt: "What is 2+2?" }]);
  await writeFile(join(cli.project, "notes.txt"), '{"mine":true}\n');
  const { code, stderr } = await cli.run(["run", "tasks.jsonl", "-o", "notes.txt", ...offline]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining("notes.txt, line 1: not written by cody run"),
  });
  expect(await readFile(join(cli.project, "notes.txt"), "utf8")).toBe('{"mine":true}\n');
});

test("a failed task makes the exit code 1, and its call that needed approval was not run", async () => {
  const cli = await Cli.open();
  await taskFile(cli, [{ key: "a", prompt: "run touch made" }]);
  const { code, stdout } = await cli.run(["run", "tasks.jsonl", ...offline]);
  expect(code).toBe(0);
  expect(lines(stdout)).toMatchObject([{ key: "a", status: "done", answer: expect.stringContaining("refused") }]);
  await taskFile(cli, [{ key: "b", prompt: "x", model: "gpt-5", provider: "openai" }]);
  expect((await cli.run(["run", "tasks.jsonl", ...offline])).code).toBe(1);
});

test("on a terminal, a table shows the running tasks below the ended ones, and is erased at the end", async () => {
  const now = 1_000_000;
  const plan = [
    { step: "look", status: "completed" },
    { step: "write", status: "pending" },
  ];
  const hangs = [{ type: "hang" as const }];
  const provider = scripted([says("One."), calls("update_plan", "call-1", { plan }), hangs]);
  const terminal = await FakeTerminal.open(provider, { notTTY: ["stdin", "stdout"], now: () => now });
  await writeFile(
    join(terminal.cwd, "tasks.jsonl"),
    '{"prompt":"first"}\n{"prompt":"second\\nline"}\n{"prompt":"third"}\n',
  );
  const running = terminal.run("run", "tasks.jsonl", "-o", "results.jsonl", "--concurrency", "1");
  await terminal.tells("1/2");
  const shown = await rowsAfter(terminal.errors);
  expect(shown).toEqual([
    "✓ first  15 tokens",
    "███████░░░░░░░░░░░░░ 1/3  1 running  30 tokens",
    "  second  0:00  ████░░░░ 1/2  15 tokens  waiting for the model",
  ]);
  terminal.signal("SIGINT");
  expect(await running).toBe(130);
  const left = await rowsAfter(terminal.errors);
  expect(left.slice(0, 2)).toEqual(["✓ first  15 tokens", "1 done, 0 failed, 2 not run"]);
});
