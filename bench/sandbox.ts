// Measures the cost of a command with and without the sandbox; it needs bubblewrap.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sandboxes } from "../src/sandbox/sandboxes.js";
import type { CommandSandbox } from "../src/tools/exec/command-sandbox.js";
import { runCommand } from "../src/tools/exec/run-command.js";
import { printTable } from "./support/table.js";

const rounds = 60;

const folder = await realpath(await mkdtemp(join(tmpdir(), "cody-bench-")));
const { PATH = "/usr/bin:/bin" } = process.env;
const homes = { home: join(folder, "home"), codexHome: undefined, claudeHome: undefined };
const sandboxes = new Sandboxes({ homes, config: {}, env: { PATH, HOME: folder } });
const started = performance.now();
const { status, sandbox } = await sandboxes.open({ conversationId: "c", cwd: folder, sandbox: "workspace-write" });
const openMs = performance.now() - started;
if (sandbox === undefined) throw new Error(status.works ? "no sandbox" : status.reason);

const [outside, inside]: [number[], number[]] = [[], []];
for (let round = 0; round < rounds; round += 1) {
  outside.push(await timeOf(undefined));
  inside.push(await timeOf(sandbox));
}
await sandboxes.close();
await rm(folder, { recursive: true });

printTable(
  "One command, `true`, milliseconds",
  ["", "median", "90%"],
  [
    ["outside", ...shown(outside)],
    ["in the sandbox", ...shown(inside)],
  ],
);
console.log(
  `  ratio of the medians ${(at(inside, 0.5) / at(outside, 0.5)).toFixed(2)}; first command of a process also ${openMs.toFixed(0)} ms`,
);

async function timeOf(commandSandbox: CommandSandbox | undefined): Promise<number> {
  const start = performance.now();
  await runCommand({
    argv: ["sh", "-c", "true"],
    cwd: folder,
    env: { PATH },
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    sandbox: commandSandbox,
    onOutput: () => undefined,
  });
  return performance.now() - start;
}

function shown(times: readonly number[]): string[] {
  return [0.5, 0.9].map((share) => at(times, share).toFixed(1));
}

function at(times: readonly number[], share: number): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? 0;
}
