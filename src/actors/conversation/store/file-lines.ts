import type { OwnLine } from "../../../messages/rollout-line.js";
import { readRollout } from "../../../rollouts/file/read.js";
import type { StoredLines } from "./store.js";

/** Reads the lines of a conversation stored in a file. */
export function fileLines(path: string, conversationId: string): StoredLines {
  const rollout = readRollout(path, conversationId);
  return {
    end: rollout.end,
    async *[Symbol.asyncIterator](): AsyncGenerator<OwnLine[]> {
      for await (const batch of rollout.batches()) yield batch.map(({ line }) => line);
    },
  };
}

/** Reads the lines of a file that is located when reading begins. */
export function foundLines(find: () => Promise<string>, conversationId: string): StoredLines {
  const end = { bytes: 0, skipped: 0 };
  return {
    end,
    async *[Symbol.asyncIterator](): AsyncGenerator<readonly OwnLine[]> {
      const lines = fileLines(await find(), conversationId);
      yield* lines;
      Object.assign(end, lines.end);
    },
  };
}
