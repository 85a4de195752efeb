import type { OwnLine } from "../../../messages/rollout-line.js";
import { type ExportedTurn, TurnCollector } from "./turns.js";

/** Yields the turns of a conversation one by one, each when it is complete. */
export async function* readTurns(batches: AsyncIterable<readonly OwnLine[]>): AsyncGenerator<ExportedTurn> {
  const turns = new TurnCollector({ remembersItems: true });
  for await (const batch of batches) {
    for (const line of batch) {
      const over = turns.add(line);
      if (over !== undefined) yield over;
    }
  }
  const last = turns.end();
  if (last !== undefined) yield last;
}
