import { expect, test } from "vitest";
import { Contention } from "./contention.js";
import { expectSaved, isSaved, questionOf, readStrictly } from "./rollout-check.js";
import { rounds, summarize, timeoutMs } from "./rounds.js";
import { leftovers, newWorld, playOneTurn, rolloutPath } from "./world.js";

test(
  "exactly one of eight processes competing for a conversation gets it, and no other process writes to it",
  async () => {
    const world = await newWorld();
    const conversation = await playOneTurn(world, "round 0");
    const contention = new Contention(world, conversation);
    await contention.recruit();
    let owner = await contention.round();
    for (let round = 2; round <= rounds.contentions; round += 1) {
      await contention.contendInVain(owner);
      owner =
        world.random.next() < 0.5 ? await contention.killThenRound(owner) : await contention.killWithinRound(owner);
    }
    await contention.kill(owner);
    await contention.dismiss();
    await playOneTurn(world, "round last", conversation);

    const rollout = await readStrictly(rolloutPath(world, conversation));
    expect(rollout.tornBytes).toBe(0);
    const saved = contention.reports.filter(isSaved);
    for (const report of saved) expectSaved(rollout, report);
    // A process that lost ownership never gets it back: the turns of one process and round are adjacent.
    const spans = rollout.turns.flatMap((turn) => /pid \d+ round \w+/.exec(questionOf(turn)) ?? []);
    const changes = spans.filter((span, index) => span !== spans[index - 1]);
    expect(changes).toEqual([...new Set(changes)]);
    // Only owners are killed here, and an owner's lock leads to its socket, so both are cleaned up.
    expect(await leftovers(world)).toEqual({ locks: [], strays: [] });
    summarize(
      `contention: ${rounds.contentions} rounds of 8 processes, ${contention.withinRounds} of them begun while the owner died ` +
        `(${contention.earlyOwners} won at once), ${saved.length} turns reported saved`,
    );
  },
  timeoutMs,
);
