import { expect, test } from "vitest";
import { noteCompactorEvent } from "../../../../src/actors/conversation/compaction/compaction.js";
import type { CompactorEvent } from "../../../../src/messages/actors/compactor.js";

const about = { conversationId: "c", generation: 3 };
const counted: CompactorEvent = { type: "counted", ...about, model: "m", from: 0, items: 2, added: 7, tokens: 9 };
const prepared: CompactorEvent = { type: "prepared", ...about, cut: 2 };
const failed: CompactorEvent = { type: "compaction_failed", ...about, cut: 2, reason: "no" };

test.each([
  [counted, { counted }],
  [prepared, { preparation: { generation: 3, cut: 2, status: "ready" } }],
  [failed, { preparation: { generation: 3, cut: 2, status: "failed" } }],
])("an event about the current history is noted, and one about an older history is not: %j", (event, noted) => {
  for (const [generation, expected] of [
    [3, noted],
    [4, {}],
  ] as const) {
    const cell = { generation, counted: undefined, preparation: undefined };
    noteCompactorEvent(cell, event);
    expect(cell).toEqual({ generation, counted: undefined, preparation: undefined, ...expected });
  }
});
