import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { FaultPoint } from "./faulty-disk.js";
import { playScenario } from "./play-scenario.js";
import type { ScenarioName } from "./io-scenarios.js";

export interface PlayedPoints {
  readonly points: number;
  /** How often lines were reported as saved, and as not saved. */
  readonly saved: number;
  readonly notSaved: number;
  /** The violated expectations, with the point where each occurred. */
  readonly wrong: string[];
}

/** Plays a scenario once for each fault point. */
export async function playPoints(
  scenario: ScenarioName,
  folder: string,
  points: readonly FaultPoint[],
): Promise<PlayedPoints> {
  const sum = { points: points.length, saved: 0, notSaved: 0, wrong: [] as string[] };
  for (const point of points) {
    const place = join(folder, "faulty");
    try {
      const { saved, notSaved } = await playScenario(scenario, place, point);
      sum.saved += saved;
      sum.notSaved += notSaved;
    } catch (error) {
      sum.wrong.push(`call ${point.number}, ${point.call}: ${point.fault.name}: ${(error as Error).message}`);
    }
    await rm(place, { recursive: true });
  }
  return sum;
}
