import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { continueAfterDeath } from "./continue-after-death.js";
import { ShortLivedChildren } from "./short-lived-children.js";
import { bundleChild } from "./bundle-child.js";
import { playScenario } from "./play-scenario.js";
import { newScene, scenarioNames } from "./io-scenarios.js";
import type { Death, VictimOrder } from "./io-victim.js";
import { points, summarize, timeoutMs } from "./rounds.js";
import { newWorld } from "./world.js";

/** Never kill the child: it kills itself. */
const byItself = { reports: Infinity, delay: 0 };

test.each(scenarioNames)(
  "a process that dies at any disk call leaves every acknowledged line once, and the next process continues (%s)",
  async (scenario) => {
    const { home, random } = await newWorld();
    const children = new ShortLivedChildren(await bundleChild("io-victim"));
    const { calls } = await playScenario(scenario, join(home, "sound"));
    const deaths = random.sample(calls.flatMap(deathsAt), points.deaths);
    const sum = { deaths: deaths.length, acknowledged: 0, strays: 0 };
    const wrong: string[] = [];

    async function lane(number: number): Promise<void> {
      for (let death = deaths.pop(); death !== undefined; death = deaths.pop()) {
        const folder = join(home, `lane-${number}`);
        const scene = await newScene(folder);
        const order: VictimOrder = { ...scene, scenario, death };
        try {
          const reports = await children.kill(order, byItself);
          sum.acknowledged += reports.length;
          sum.strays += await continueAfterDeath(scenario, scene, reports);
        } catch (error) {
          wrong.push(`${death.how} call ${death.number}, ${death.call}: ${(error as Error).message}`);
        }
        await rm(folder, { recursive: true });
      }
    }

    await Promise.all(Array.from({ length: availableParallelism() + 1 }, (_, number) => lane(number)));
    expect(wrong).toEqual([]);
    summarize(
      `death at every call (${scenario}): ${calls.length} calls, ${sum.deaths} deaths, ` +
        `${sum.acknowledged} times something was acknowledged before, 0 lost, ${sum.strays} temporary files left`,
    );
  },
  timeoutMs,
);

function deathsAt(call: string, index: number): Death[] {
  const number = index + 1;
  return [{ number, call, how: "before" }, ...(call === "write" ? [{ number, call, how: "half" as const }] : [])];
}
