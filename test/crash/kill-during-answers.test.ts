import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AnswererOrder } from "../support/children/answerer.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { Child } from "./child.js";
import { answering, summarize } from "./rounds.js";
import { newWorld, rolloutPath, type World } from "./world.js";

const interrupted = "interrupted, result unknown";

/** More events than a turn has from the answer to its end. */
const maxEvents = 16;

test(
  "an approved call runs exactly once, wherever the processes that answer its request die",
  async () => {
    const world = await newWorld();
    const effects = join(world.home, "effects");
    const common = { home: world.home, runtimeDirectory: world.runtimeDirectory, effects };
    let unknown = 0;
    for (let round = 1; round <= answering.calls; round += 1) {
      const asks = `r${round}`;
      const killsAfterEffect = round % 6 !== 0;
      const [asked] = await run({ ...common, asks, killsAfterEffect });
      const conversation = asked?.conversation ?? "";
      for (let death = world.random.whole(1, 3); death > 0; death -= 1) {
        await run({ ...common, conversation, ...howItDies(world) });
      }
      // The effect that kills its process does so in every life, but it has only one.
      await run({ ...common, conversation });
      await run({ ...common, conversation });
      const outputs = await outputsOf(world, conversation);
      expect(outputs, `${conversation} has one output`).toHaveLength(1);
      const count = (await linesOf(effects)).filter((line) => line === `${asks}_1`).length;
      const isUnknown = outputs[0] === interrupted;
      if (isUnknown) unknown += 1;
      // A call that was killed between its decision and its effect has not happened, and is reported as unknown.
      expect(count, `${conversation}: ${outputs[0]}`).toBeLessThanOrEqual(1);
      expect(count + Number(isUnknown), `${conversation}: ${outputs[0]}`).toBeGreaterThanOrEqual(1);
    }
    summarize(`answers: ${answering.calls} approved calls, ${unknown} of them with an unknown result, none ran twice`);
  },
  answering.timeoutMs,
);

function howItDies({ random }: World): Partial<AnswererOrder> {
  const records = random.whole(1, 3) === 1;
  if (records || random.whole(1, 3) === 1) return { records, diesAnswered: true };
  return { events: random.whole(0, maxEvents) };
}

async function run(order: AnswererOrder) {
  const child = new Child("children/answerer", order);
  await child.gone;
  return child.reports;
}

async function outputsOf(world: World, conversation: string): Promise<string[]> {
  const lines = await rolloutLines(rolloutPath(world, conversation));
  return lines.flatMap(({ payload }) =>
    payload["type"] === "function_call_output" ? [String(payload["output"])] : [],
  );
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}
