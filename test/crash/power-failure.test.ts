import { expect, onTestFinished, test } from "vitest";
import { nodeFileSystem } from "../../src/rollouts/file/file-system.js";
import { WriterHarness } from "../actors/rollout-writer/writer-harness.js";
import { crashStates } from "./crash-states.js";
import { points, summarize, timeoutMs } from "./rounds.js";
import { continueAfterTail, unsyncedBytes } from "./unsynced-tail.js";
import { newWorld } from "./world.js";

test(
  "after a power failure synced lines are read, damage to the rest is reported, and the conversation continues",
  async () => {
    const { random } = await newWorld();
    const harness = new WriterHarness();
    onTestFinished(() => harness[Symbol.asyncDispose]());
    // The power does not fail a second time, so syncs are skipped.
    const noSyncs = { fsync: () => Promise.resolve(), fdatasync: () => Promise.resolve() };
    const writer = await harness.start({ ...nodeFileSystem, ...noSyncs });
    const states = random.sample(crashStates(unsyncedBytes, random), points.crashStates);
    const sum = { torn: 0, damaged: 0, whole: 0 };
    const wrong: string[] = [];
    for (const [index, { name, bytes }] of states.entries()) {
      try {
        sum[await continueAfterTail(bytes, harness, writer, `state-${index}`)] += 1;
      } catch (error) {
        wrong.push(`${name}: ${(error as Error).message}`);
      }
    }
    expect(wrong).toEqual([]);
    summarize(
      `power failures: ${states.length} states of an unsynced tail, 0 synced lines lost: ${sum.torn} torn, ` +
        `${sum.damaged} damaged and repaired, ${sum.whole} with nothing but whole lines`,
    );
  },
  timeoutMs,
);
