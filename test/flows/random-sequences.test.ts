import * as fc from "fast-check";
import { expect, onTestFailed, test } from "vitest";
import { firstSeed, sequences, summarize } from "../crash/rounds.js";
import { playSequence } from "../support/sequences/play.js";
import { sequence } from "../support/sequences/steps.js";
import { openSequenceWorld } from "../support/sequences/world.js";

const longestSequenceMs = 60_000;

test(
  "no API refuses a request of a conversation after any random sequence of operations",
  async () => {
    const seed = firstSeed();
    onTestFailed(() => {
      process.stderr.write(`the test was begun with CODY_CRASH_SEED=${seed}\n`);
    });
    const { count, lanes } = sequences;
    let played = 0;
    const worlds = await Promise.all(Array.from({ length: lanes }, openSequenceWorld));
    await Promise.all(
      worlds.map((world, lane) =>
        fc.assert(
          fc.asyncProperty(sequence, async (drawn) => {
            expect(await playSequence(world, drawn)).toEqual([]);
            played += 1;
            if (played % 500 === 0) summarize(`${played} sequences played`);
          }),
          { seed: seed + lane, numRuns: Math.ceil(count / lanes), timeout: longestSequenceMs },
        ),
      ),
    );
    const total = worlds.map(({ counts }) => counts).reduce(added);
    summarize(`${count} sequences: ${JSON.stringify(total)}, 0 requests refused`);
  },
  sequences.timeoutMs,
);

function added<T extends Readonly<Record<string, number>>>(left: T, right: T): T {
  return Object.fromEntries(Object.entries(left).map(([key, value]) => [key, value + (right[key] ?? 0)])) as T;
}
