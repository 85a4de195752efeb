import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { appendCompaction, writeLargeRollout } from "../support/large-rollout.js";
import { countThreads } from "../support/started-threads.js";

const writer = "rollout-writer.cjs";
/** The entry file of every pool thread. */
const pool = "worker.js";

async function threadsOf(cli: Cli, args: readonly string[]): Promise<string[]> {
  const { env, started } = await countThreads();
  expect(await cli.run(args, { env })).toMatchObject({ code: 0 });
  return await started();
}

test("short commands start only the writer thread, and only a long compacted rollout is read in a pool", async () => {
  const cli = await Cli.open();
  expect(await threadsOf(cli, ["--version"])).toEqual([]);
  expect(await threadsOf(cli, ["new"])).toEqual([writer]);
  expect(await threadsOf(cli, ["chat", "What is 2+2?"])).toEqual([writer]);
  expect(await threadsOf(cli, ["list"])).toEqual([]);
  const large = join(cli.conversations, "conv_large.jsonl");
  await writeLargeRollout(large, "conv_large", 17 * 1024 * 1024);
  expect(await threadsOf(cli, ["list"])).toEqual([]);
  expect(await threadsOf(cli, ["resume", "conv_large"])).toEqual([writer]);
  await appendCompaction(large);
  expect((await threadsOf(cli, ["resume", "conv_large"])).toSorted()).toEqual([writer, pool, pool]);
});

test("the writer thread starts before the conversation modules are loaded", async () => {
  const cli = await Cli.open();
  const { env, loadedBefore } = await countThreads();
  expect(await cli.run(["chat", "What is 2+2?"], { env })).toMatchObject({ code: 0 });
  const chunks = (await loadedBefore(writer)).map((file) => file.replace(/-.{8}\.cjs$/, ""));
  expect(chunks).toContain("outbox");
  expect(chunks).not.toContain("conversation");
});
