import { expect, test } from "vitest";
import type { ContenderMessage } from "../support/children/contender.js";
import { Child } from "./child.js";
import type { Report } from "./report.js";
import { expectSaved, isSaved, readStrictly } from "./rollout-check.js";
import { rounds, timeoutMs } from "./rounds.js";
import { newWorld, playOneTurn, rolloutPath } from "./world.js";

const latestReport = 80;

test(
  "a stopped owner keeps its conversation, and continues after SIGCONT",
  async () => {
    const world = await newWorld();
    const { home, runtimeDirectory, random } = world;
    const conversation = await playOneTurn(world, "round 0");
    const order = { home, runtimeDirectory, conversation, seed: random.whole(0, 2 ** 31) };
    const [owner, other] = [new Child("children/contender", order), new Child("children/contender", order)];
    expect(await contend(owner, 0)).toEqual({ type: "owner", round: 0 });
    for (let round = 1; round <= rounds.stops; round += 1) {
      let left = random.magnitude(1, latestReport);
      await owner.until(() => --left <= 0, owner.reports.length);
      owner.signal("SIGSTOP");
      const message = `Conversation ${conversation} is in use by pid ${owner.pid}`;
      expect(await contend(other, round)).toEqual({ type: "refused", round, message });
      owner.signal("SIGCONT");
      await expectContinues(owner);
    }
    await owner.kill();
    const rollout = await readStrictly(rolloutPath(world, conversation));
    for (const report of owner.reports.filter(isSaved)) expectSaved(rollout, report);
    expect(owner.reports.filter((report) => report.saved === false)).toEqual([]);
  },
  timeoutMs,
);

async function contend(child: Child, round: number): Promise<Report> {
  child.say({ type: "go", round } satisfies ContenderMessage);
  return await child.until((report) => report.round === round);
}

/** Reports from before the stop may still arrive, so wait for the answer to a new ping and for an event after it. */
async function expectContinues(owner: Child): Promise<void> {
  const from = owner.reports.length;
  owner.say({ type: "ping" } satisfies ContenderMessage);
  await owner.until(({ type }) => type === "pong", from);
  await owner.until(isSaved, owner.reports.length);
}
