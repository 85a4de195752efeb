// Measures `listConversations({ limit: 50 })` of ten thousand conversations in a new process and again and again in
// one, next to `cody list --limit 50`, which reads the same cache.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ConversationManager } from "./support/built-package.js";
import { Commands } from "./library/run-command.js";
import { homePaths } from "../src/config/paths.js";
import { listRollouts } from "./support/built-rollouts.js";
import { median } from "./support/measure.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";
import { writeConversations } from "./support/write-conversations.js";

const conversations = 10_000;
const rounds = Number(process.env["LIST_ROUNDS"] ?? 7);
const limit = 50;
/** The order of a folder that has just changed is not cached, so wait this long. */
const settledMs = 2_500;
const newProcessGoal = 1.2;
const warmGoalMs = 5;
/** Bounds the time for one row. */
const maxRowMs = 3_000;

const child = fileURLToPath(new URL("threads/list-child.js", import.meta.url));

await using directory = await temporaryDirectory();
const home = join(directory.path, "home");
await writeConversations(home, conversations);
await setTimeout(settledMs);
const commands = new Commands(directory.path, home);
const args = ["list", "--limit", String(limit)];
const expected = `Total: ${conversations} conversation(s), showing ${limit}`;

const samples = {
  command: [] as number[],
  process: [] as number[],
  call: [] as number[],
  bare: [] as number[],
  cold: [] as number[],
};
// The first round fills the caches and is not counted.
for (let round = 0; round <= rounds; round += 1) {
  const command = commands.time(args, expected);
  const { wholeMs, callMs } = newProcess(String(limit));
  const bare = newProcess().wholeMs;
  rmSync(homePaths(home).heads, { force: true });
  const cold = newProcess(String(limit)).callMs;
  if (round === 0) continue;
  samples.command.push(command);
  samples.process.push(wholeMs);
  samples.call.push(callMs);
  samples.bare.push(bare);
  samples.cold.push(cold);
}

const manager = new ConversationManager({ home, config: { provider: "offline" } });
await manager.listConversations({ limit });
const warm = await times(200, () => manager.listConversations({ limit }));
const { conversation, conversationId } = await manager.newConversation();
await setTimeout(settledMs);
await manager.listConversations({ limit });
const written = await times(
  30,
  async () => {
    const [first] = await manager.listConversations({ limit });
    if (first?.id !== conversationId) throw new Error("the conversation that was written last is not the first");
  },
  () => conversation.processMessage("hi"),
);
await conversation.shutdown();
const changed = await times(10, () => manager.listConversations({ limit }));
await manager.shutdown();
let cursor: string | undefined;
const pages = await times(20, async () => {
  const page = await listRollouts(home, { pageSize: limit, ...(cursor === undefined ? {} : { cursor }) });
  cursor = page.nextCursor;
});

const base = median(samples.command);
const row = (name: string, values: readonly number[], goal = "", isMet?: boolean): string[] => {
  const ms = median(values);
  return [name, ms.toFixed(1), `${(ms / base).toFixed(2)}x`, goal, isMet === undefined ? "" : met(isMet)];
};
const call = median(samples.call);
printTable(
  `${limit} of ${conversations.toLocaleString("en")} conversations, ms (median)`,
  ["what", "ms", "x command", "goal", ""],
  [
    row("cody list --limit 50, whole process", samples.command),
    row(
      "listConversations, new process: the call",
      samples.call,
      `<= ${newProcessGoal}x`,
      call <= newProcessGoal * base,
    ),
    row("  the whole process", samples.process),
    row('  of which starting Node and import "cody"', samples.bare),
    row("  the call without a cache", samples.cold),
    row("listConversations again", warm, `<= ${warmGoalMs} ms`, median(warm) <= warmGoalMs),
    row("  after every turn of an open one", written, `<= ${warmGoalMs} ms`, median(written) <= warmGoalMs),
    row("  when one was closed just now", changed),
    row("listRollouts, page after page", pages),
  ],
);

function newProcess(...page: string[]): { wholeMs: number; callMs: number } {
  const env = { PATH: process.env["PATH"], HOME: directory.path, CODY_HOME: home };
  const begin = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [child, home, ...page], { env, encoding: "utf8" });
  const wholeMs = performance.now() - begin;
  if (status !== 0) throw new Error(`list: ${stderr}`);
  return { wholeMs, callMs: Number(stdout) };
}

async function times(
  count: number,
  work: () => Promise<unknown>,
  before: () => Promise<unknown> = async () => undefined,
): Promise<number[]> {
  const measured: number[] = [];
  const end = performance.now() + maxRowMs;
  for (let index = 0; index < count && (index === 0 || performance.now() < end); index += 1) {
    await before();
    const begin = performance.now();
    await work();
    measured.push(performance.now() - begin);
  }
  return measured;
}
