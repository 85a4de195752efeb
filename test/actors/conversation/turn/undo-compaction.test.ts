import * as fc from "fast-check";
import { expect, test } from "vitest";
import { historyBeforeCompaction } from "../../../../src/actors/conversation/turn/between-turns.js";
import type { CompactionNotes } from "../../../../src/messages/compaction.js";
import type { ResponseItem } from "../../../../src/messages/response-item.js";
import type { OwnLine } from "../../../../src/messages/rollout-line.js";
import { applyToHistory } from "../../../../src/rollouts/file/history.js";
import { user } from "../../../support/scripted-provider.js";

const timestamp = "2026-11-17T00:00:00.000Z";
const notes: CompactionNotes = {
  trigger: "manual",
  strategy: "codex",
  source: "model",
  tokens_before: 0,
  tokens_after: 0,
  items_before: 0,
  items_after: 0,
  truncated_count: 0,
  read_files: [],
  modified_files: [],
};

/** One operation on a history: a message, a compaction that keeps the newest items, or the undo of a compaction. */
type Operation = { readonly say: string } | { readonly keep: number } | "undo";
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ say: fc.string({ minLength: 1 }) }),
  fc.record({ keep: fc.nat(3) }),
  fc.constant("undo" as const),
);

function compacted(items: readonly ResponseItem[], trigger: CompactionNotes["trigger"]): OwnLine {
  const payload = { message: "", replacement_history: [...items], cody: { ...notes, trigger } };
  return { timestamp, type: "compacted", payload };
}

async function before(lines: readonly OwnLine[]): Promise<ResponseItem[] | undefined> {
  return await historyBeforeCompaction(
    (async function* () {
      yield lines;
    })(),
  );
}

test("undoing a compaction restores the earlier history byte for byte and keeps later items", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
      const lines: OwnLine[] = [];
      const history: ResponseItem[] = [];
      // The histories that undo must restore, one for each compaction that is not undone yet.
      const stack: ResponseItem[][] = [];
      const write = (line: OwnLine): void => {
        lines.push(line);
        applyToHistory(history, line);
      };
      for (const each of operations) {
        if (each === "undo") {
          // The result is only checked after the last operation, which depends on all earlier ones.
          const earlier = await before(lines);
          if (earlier !== undefined) write(compacted(earlier, "undo"));
          stack.pop();
        } else if ("say" in each) {
          const item = user(each.say);
          write({ timestamp, type: "response_item", payload: item });
          for (const expected of stack) expected.push(item);
        } else {
          stack.push([...history]);
          write(compacted([user("summary"), ...history.slice(history.length - each.keep)], "manual"));
        }
      }
      expect(JSON.stringify(await before(lines))).toBe(JSON.stringify(stack.at(-1)));
    }),
    { numRuns: 1_000 },
  );
});
