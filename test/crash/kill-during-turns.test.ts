import { expect, test } from "vitest";
import type { PlayerOrder } from "../support/children/player.js";
import { checkTouched, checkWhole, resumeAll } from "./check-after-kill.js";
import { Child } from "./child.js";
import { longAnswers, variedAnswers } from "./question.js";
import type { Random } from "./random.js";
import type { Report } from "./report.js";
import { hasUserMessage, isSaved } from "./rollout-check.js";
import { rounds, summarize, timeoutMs } from "./rounds.js";
import { conversationIds, leftovers, newWorld, type World } from "./world.js";

const conversationsAtOnce = 3;
/** Larger rollouts are not resumed again, so that a round does not spend its time reading. */
const longestResumedBytes = 3_000_000;
/** The highest share of kills that hit between creating a temporary file or socket and using it. */
const strayShare = 0.1;
/** Long answers fill the disk, so those rounds are shorter. */
const kinds = [
  { answers: variedAnswers, latestReport: 1_000 },
  { answers: longAnswers, latestReport: 200 },
] as const;

test(
  "every turn reported as saved survives kill -9 at any moment",
  async () => {
    const world = await newWorld();
    const saved: Report[] = [];
    const resumable = new Set<string>();
    let tornTails = 0;
    for (let round = 1; round <= rounds.kills; round += 1) {
      const reports = await killedPlayer(world, round, [...resumable]);
      saved.push(...reports.filter(isSaved));
      for (const { id, rollout } of await checkTouched(world, reports)) {
        if (rollout.tornBytes > 0) tornTails += 1;
        if (hasUserMessage(rollout) && rollout.bytes < longestResumedBytes) resumable.add(id);
        else resumable.delete(id);
      }
    }
    const ids = await conversationIds(world);
    const resumed = await resumeAll(world, ids);
    for (const id of ids) await checkWhole(world, id, saved);
    const { locks, strays } = await leftovers(world);
    expect(locks).toEqual([]);
    expect(strays.length).toBeLessThanOrEqual(Math.ceil(rounds.kills * strayShare));
    summarize(
      `kill -9: ${rounds.kills} kills, ${saved.length} turns reported saved, ` +
        `${ids.length} files (${resumed} with a turn), ` +
        `${tornTails} torn tails found, ${strays.length} strays`,
    );
  },
  timeoutMs,
);

async function killedPlayer(world: World, round: number, resumable: readonly string[]): Promise<Report[]> {
  const { home, runtimeDirectory, random } = world;
  const { answers, latestReport } = kinds[round % 2] ?? kinds[0];
  const resume = random.sample(resumable, random.whole(0, conversationsAtOnce - 1));
  const order: PlayerOrder = {
    home,
    runtimeDirectory,
    resume,
    create: conversationsAtOnce - resume.length,
    label: `round ${round}`,
    answers,
    seed: random.whole(1000, 2 ** 31),
  };
  const child = new Child("children/player", order);
  await child.until(randomMoment(random, latestReport));
  await child.kill();
  return child.reports;
}

/** After a random number of reports, or while the first or the last lines of a turn are being written. */
function randomMoment(random: Random, latestReport: number): (report: Report) => boolean {
  const kind = random.pick(["any", "any", "task_started", "token_count"]);
  let left = kind === "any" ? random.magnitude(1, latestReport) : random.whole(1, 12);
  return ({ type }) => {
    if (kind === "any" || kind === type) left -= 1;
    return left <= 0;
  };
}
