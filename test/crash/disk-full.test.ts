import { join } from "node:path";
import { expect, test } from "vitest";
import { fullAfter } from "./io-faults.js";
import { playScenario } from "./play-scenario.js";
import { scenarioNames } from "./io-scenarios.js";
import { upTo } from "./numbered-lines.js";
import { playPoints } from "./play-points.js";
import { points, summarize, timeoutMs } from "./rounds.js";
import { newWorld } from "./world.js";

test.each(scenarioNames)(
  "a disk that is full at any byte is reported, and everything is saved once there is room again (%s)",
  async (scenario) => {
    const { home, random } = await newWorld();
    const { writtenBytes } = await playScenario(scenario, join(home, "sound"));
    const sizes = random.sample([0, ...upTo(writtenBytes - 1)], points.sizes);
    const full = sizes.map((bytes) => ({ number: 1, call: "write", fault: fullAfter(bytes) }));
    const played = await playPoints(scenario, home, full);
    expect(played.wrong).toEqual([]);
    expect(played.notSaved).toBeGreaterThan(0);
    summarize(
      `disks that are full (${scenario}): ${played.points} sizes, 0 wrong, ` +
        `${played.saved} answers "saved" compared with the disk, ${played.notSaved} times "not saved"`,
    );
  },
  timeoutMs,
);
