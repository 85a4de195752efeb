import { isCodexSummary } from "../../base/codex/codex-summary.js";
import { memoizeByObject } from "../../base/memoize.js";
import { messageText, type ResponseItem } from "../../messages/response-item.js";
import { isRealUserMessage } from "../../base/codex/context-message.js";

/**
 * Limits a history to its newest turns for the model. Of the older items only those before the first turn, summaries,
 * pins and snapshots remain. Outputs whose calls were dropped are dropped too.
 */
export function newestTurns(history: readonly ResponseItem[], maxTurns: number): ResponseItem[] {
  // Every turn has at least one item, so a history this short needs no cut.
  const cut = history.length <= maxTurns ? 0 : cutBefore(history, maxTurns);
  if (cut === 0) return [...history];
  const first = history.findIndex(beginsTurn);
  const kept = history.filter((item, index) => index < first || (index < cut && outlivesTurns(item)));
  return [...kept, ...withoutLooseOutputs(history.slice(cut))];
}

/** Returns the place where the oldest visible turn begins, or 0 when all turns are visible. */
function cutBefore(history: readonly ResponseItem[], maxTurns: number): number {
  let turns = 0;
  let begins = 0;
  for (let index = history.length - 1; index >= 0; index -= 1) {
    const item = history[index];
    if (item === undefined || !beginsTurn(item)) continue;
    turns += 1;
    if (turns > maxTurns) return begins;
    begins = index;
  }
  return 0;
}

/** Remembered, because every request of a long conversation asks it about every item. */
const beginsTurn = memoizeByObject((item: ResponseItem) => isRealUserMessage(item) && !isKeptMessage(item));

const outlivesTurns = memoizeByObject((item: ResponseItem): boolean => {
  switch (item.type) {
    case "ghost_snapshot":
    case "compaction":
    case "compaction_summary":
    case "context_compaction":
      return true;
    default:
      return isKeptMessage(item);
  }
});

/**
 * Recognizes summaries by their flag, or by Codex's prefix. Pinned items count too, because they also outlive turns.
 */
function isKeptMessage(item: ResponseItem): boolean {
  if (item.type !== "message") return false;
  if (item.summary === true || item.pinned === true) return true;
  return item.role === "user" && isCodexSummary(messageText(item));
}

function withoutLooseOutputs(items: readonly ResponseItem[]): ResponseItem[] {
  const called = new Set<string>();
  return items.filter((item) => {
    if (!("call_id" in item) || typeof item.call_id !== "string") return true;
    if (!item.type.endsWith("_output")) called.add(item.call_id);
    return called.has(item.call_id);
  });
}
