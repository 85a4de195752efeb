import { expect } from "vitest";
import { newQuestion } from "./question.js";
import type { Report } from "./report.js";
import { expectSaved, hasUserMessage, isSaved, readStrictly, type RolloutInFile } from "./rollout-check.js";
import { openManager, rolloutPath, type World } from "./world.js";

/** One in this many conversations plays another turn when it is opened at the end. */
const playedAgain = 4;

/** Checks the files a child was using when it was killed: everything before a torn tail must be correct already. */
export async function checkTouched(
  world: World,
  reports: readonly Report[],
): Promise<{ id: string; rollout: RolloutInFile }[]> {
  const touched = new Set(reports.flatMap(({ conversation }) => conversation ?? []));
  return await Promise.all(
    Array.from(touched, async (id) => {
      const rollout = await readStrictly(rolloutPath(world, id));
      for (const report of reports.filter(isSaved)) if (report.conversation === id) expectSaved(rollout, report);
      return { id, rollout };
    }),
  );
}

/** Resumes every conversation in a new manager; returns how many of them have a user message. */
export async function resumeAll(world: World, ids: readonly string[]): Promise<number> {
  const manager = openManager(world);
  try {
    let withTurns = 0;
    for (const [index, id] of ids.entries()) {
      const before = await readStrictly(rolloutPath(world, id));
      const allowEmpty = !hasUserMessage(before);
      if (!allowEmpty) withTurns += 1;
      const conversation = await manager.resumeConversation(id, { allowEmpty });
      if (index % playedAgain === 0 && !allowEmpty) {
        const items = await conversation.processMessage(newQuestion(`after all rounds ${id}`, world.random));
        expect(items.map((item) => item.type === "message" && item.role)).toEqual(["user", "assistant"]);
      }
      await conversation.shutdown();
    }
    return withTurns;
  } finally {
    await manager.shutdown();
  }
}

export async function checkWhole(world: World, id: string, saved: readonly Report[]): Promise<void> {
  const rollout = await readStrictly(rolloutPath(world, id));
  expect(rollout.tornBytes).toBe(0);
  for (const report of saved) if (report.conversation === id) expectSaved(rollout, report);
}
