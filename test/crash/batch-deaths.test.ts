import { once } from "node:events";
import { watch } from "node:fs/promises";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BatchResult } from "../../src/messages/batch.js";
import { Cli } from "../support/cli.js";

const isFull = process.env["CODY_CRASH"] === "full";
const [tasks, deaths, concurrency] = isFull ? [500, 10, 50] : [40, 3, 8];

test(
  "a batch that is killed again and again ends with one result for each task, and no effect twice",
  async () => {
    const cli = await Cli.open({ spawned: true });
    const lines = Array.from({ length: tasks }, (_, index) => {
      // Half of the tasks have an effect, which must not happen twice.
      const prompt = index % 2 === 0 ? `What is ${index}+1?` : `run echo ${index} >> effects.txt`;
      return JSON.stringify({ key: `task-${index}`, prompt });
    });
    await writeFile(join(cli.project, "tasks.jsonl"), `${lines.join("\n")}\n`);
    await writeFile(join(cli.project, "effects.txt"), "");
    await writeFile(join(cli.project, "results.jsonl"), "");
    const args = [
      "run",
      "tasks.jsonl",
      "-o",
      "results.jsonl",
      "--concurrency",
      String(concurrency),
      "--provider",
      "offline",
    ];
    const command = [...args, "--sandbox", "danger-full-access", "-q"];
    for (let death = 1; death <= deaths; death += 1) {
      const child = cli.start(command);
      const wanted = Math.floor((death * tasks) / (deaths + 1));
      await grown(join(cli.project, "results.jsonl"), wanted);
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    const last = await cli.run(command);
    expect(last.stderr).toContain("finished before: skipped");
    const results = (await readFile(join(cli.project, "results.jsonl"), "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => BatchResult.parse(JSON.parse(line)));
    expect(results.map(({ key }) => key).toSorted()).toEqual(
      Array.from({ length: tasks }, (_, index) => `task-${index}`).toSorted(),
    );
    expect(results.filter(({ status }) => status === "failed")).toEqual([]);
    const effects = (await readFile(join(cli.project, "effects.txt"), "utf8")).split("\n").filter(Boolean);
    expect(effects.length).toBe(new Set(effects).size);
    // A task is only done if its effect happened, unless the model gave up on it after an interruption.
    const done = new Set(
      results.flatMap(({ key, status, attempts }) => (status === "done" && attempts === 1 ? [key] : [])),
    );
    const missing = Array.from({ length: tasks }, (_, index) => index).filter(
      (index) => index % 2 === 1 && done.has(`task-${index}`) && !effects.includes(String(index)),
    );
    expect(missing).toEqual([]);
  },
  isFull ? 600_000 : 120_000,
);

/** Resolves when the file has at least this many whole lines. */
async function grown(path: string, wanted: number): Promise<void> {
  const abort = new AbortController();
  const changes = watch(path, { signal: abort.signal });
  if ((await lineCount(path)) >= wanted) return;
  try {
    for await (const _ of changes) if ((await lineCount(path)) >= wanted) return;
  } finally {
    abort.abort();
  }
}

async function lineCount(path: string): Promise<number> {
  return (await readFile(path, "utf8")).split("\n").length - 1;
}
