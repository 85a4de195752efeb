import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BatchResult } from "../../src/messages/batch.js";
import { Cli } from "../support/cli.js";

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
