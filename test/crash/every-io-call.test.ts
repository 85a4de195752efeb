import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FaultPoint } from "./faulty-disk.js";
import { faultsOf } from "./io-faults.js";
import { playScenario } from "./io-point.js";
import { scenarioNames } from "./io-scenarios.js";
import { points, summarize, timeoutMs } from "./rounds.js";
import { newWorld } from "./world.js";

test.each(scenarioNames)(
  "whichever call to the disk fails, what is called saved is there, once and whole (%s)",
  async (scenario) => {
    const { home: folder, random } = await newWorld();
    const { calls, saved } = await playScenario(scenario, join(folder, "sound"));
    const sum = { points: 0, saved, notSaved: 0 };
    const wrong: string[] = [];
    const all = calls.flatMap((call, index) => pointsAt(call, index + 1));
    for (const point of random.sample(all, points.faults)) {
      const place = join(folder, "faulty");
      sum.points += 1;
      try {
        const played = await playScenario(scenario, place, point);
        sum.saved += played.saved;
        sum.notSaved += played.notSaved;
      } catch (error) {
        wrong.push(`call ${point.number}, ${point.call}: ${point.fault.name}: ${(error as Error).message}`);
      }
      await rm(place, { recursive: true });
    }
    expect(wrong).toEqual([]);
    summarize(
      `a fault at every call (${scenario}): ${calls.length} calls, ${sum.points} faults, 0 wrong, ` +
        `${sum.saved} answers "saved" compared with the disk, ${sum.notSaved} times "not saved"`,
    );
  },
  timeoutMs,
);

function pointsAt(call: string, number: number): FaultPoint[] {
  return faultsOf(call).map((fault) => ({ number, call, fault }));
}
