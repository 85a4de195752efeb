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

/** What is done to a history: something is said, the newest so many items outlive a compaction, or one is undone. */
type Deed = { readonly say: string } | { readonly keep: number } | "undo";
const deed: fc.Arbitrary<Deed> = fc.oneof(
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

test("whatever was done, going back gives byte for byte what was there before, with what came since", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 30 }), async (deeds) => {
      const lines: OwnLine[] = [];
      const history: ResponseItem[] = [];
      // What an undo must give: one history for each compaction that was not undone.
      const stack: ResponseItem[][] = [];
      const write = (line: OwnLine): void => {
        lines.push(line);
        applyToHistory(history, line);
      };
      for (const each of deeds) {
        if (each === "undo") {
          // What it gives is looked at behind the last deed, and by then all later ones depend on it.
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
