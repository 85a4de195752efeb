// Compacting a history of 10 MB beside twenty streaming conversations, each time in a new process with an instant model,
// next to a bare Node process that reads and parses the same rollout and posts the same summary request.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { homePaths } from "../../src/config/paths.js";
import { conversationId } from "../resume/rollout-kind.js";
import { median } from "../support/measure.js";
import { met, printTable } from "../support/table.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import type { CompactedBy, CompactMeasurement } from "../threads/compact-child.js";
import { startServer, threadProgram } from "./summary-server.js";

const rounds = 5;
const bytes = 10_000_000;
/** The fastest peer needs 8.4 times as long as a Node process that does nothing. */
const goals = { toNode: 8.4, stall: 3 };

const subjects = {
  bare: "read, parse and post (bare)",
  server: "a server's model",
  provider: "a provider in this process",
  tokenizer: "the same with an injected tokenizer",
} as const satisfies Record<"bare" | CompactedBy, string>;

type Subject = keyof typeof subjects;

export async function printTenMegabytes(): Promise<void> {
  await using directory = await temporaryDirectory();
  await using server = await startServer();
  const source = join(directory.path, "source.jsonl");
  await answerOf(fork(threadProgram("resume-child"), ["write", source, String(bytes), "whole"]));
  const all = Object.keys(subjects) as Subject[];
  const results = new Map(all.map((name): [Subject, CompactMeasurement[]] => [name, []]));
  const starts: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    starts.push(await startOfNode());
    for (const name of all) {
      const home = join(directory.path, `${name}-${round}`);
      if (name !== "bare") await copyTo(home, source);
      const child = fork(threadProgram("compact-child"), [name, name === "bare" ? source : home, server.url]);
      results.get(name)?.push((await answerOf(child)) as CompactMeasurement);
    }
  }
  const start = median(starts);
  const of = (name: Subject, pick: (each: CompactMeasurement) => number): number =>
    median((results.get(name) ?? []).map(pick));
  printTable(
    `Compacting 10 MB beside 20 streaming conversations, ms (median of ${rounds}; \`node -e 0\`: ${start.toFixed(0)} ms)`,
    [
      "model",
      "wall",
      "x bare",
      "x node",
      `<= ${goals.toNode}`,
      "CPU",
      "late p99",
      "idle",
      "late at most",
      "idle",
      "ratio",
      `<= ${goals.stall}x`,
    ],
    all.map((name) => {
      const wall = of(name, ({ ms }) => ms);
      const [p99, idleP99] = [of(name, ({ busy }) => busy.p99), of(name, ({ idle }) => idle.p99)];
      const [max, idleMax] = [of(name, ({ busy }) => busy.max), of(name, ({ idle }) => idle.max)];
      const isBare = name === "bare";
      return [
        subjects[name],
        wall.toFixed(0),
        (wall / of("bare", ({ ms }) => ms)).toFixed(2),
        (wall / start).toFixed(1),
        isBare ? "" : met(wall / start <= goals.toNode),
        of(name, ({ cpuMs }) => cpuMs).toFixed(0),
        ...(isBare ? [] : [p99, idleP99, max, idleMax].map((ms) => ms.toFixed(1))),
        ...(isBare ? [] : [`${(max / idleMax).toFixed(1)}x`, met(max / idleMax <= goals.stall)]),
      ];
    }),
  );
}

async function copyTo(home: string, source: string): Promise<void> {
  const { conversations } = homePaths(home);
  await mkdir(conversations, { recursive: true, mode: 0o700 });
  await cp(source, join(conversations, `${conversationId}.jsonl`));
}

async function startOfNode(): Promise<number> {
  const begin = performance.now();
  await new Promise((resolve) => spawn(process.execPath, ["-e", "0"]).once("exit", resolve));
  return performance.now() - begin;
}

async function answerOf(forked: ChildProcess): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    forked.once("message", resolve);
    forked.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
}
