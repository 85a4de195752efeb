import { join } from "node:path";
import { expect, test } from "vitest";
import { faultsOf } from "./io-faults.js";
import { playScenario } from "./play-scenario.js";
import { scenarioNames } from "./io-scenarios.js";
import { playPoints } from "./play-points.js";
import { points, summarize, timeoutMs } from "./rounds.js";
import { newWorld } from "./world.js";

test.each(scenarioNames)(
  "a failed disk call never loses or duplicates an acknowledged line (%s)",
  async (scenario) => {
    const { home, random } = await newWorld();
    const { calls } = await playScenario(scenario, join(home, "sound"));
    const all = calls.flatMap((call, index) => faultsOf(call).map((fault) => ({ number: index + 1, call, fault })));
    const played = await playPoints(scenario, home, random.sample(all, points.faults));
    expect(played.wrong).toEqual([]);
    summarize(
      `a fault at every call (${scenario}): ${calls.length} calls, ${played.points} faults, 0 wrong, ` +
        `${played.saved} answers "saved" compared with the disk, ${played.notSaved} times "not saved"`,
    );
  },
  timeoutMs,
);
