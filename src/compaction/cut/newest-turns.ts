import { isCodexSummary } from "../../messages/codex-summary.js";
import { messageText, type ResponseItem } from "../../messages/response-item.js";
import { isRealUserMessage } from "../../messages/user-message.js";

/**
 * What the model sees of a history: its newest turns, and of what is older only what stands before all turns,
 * summaries and snapshots. An output whose call is gone goes with it.
 */
export function newestTurns(history: readonly ResponseItem[], maxTurns: number): ResponseItem[] {
  // A turn has one item at least.
  const cut = history.length <= maxTurns ? 0 : cutBefore(history, maxTurns);
  if (cut === 0) return [...history];
  const first = history.findIndex(beginsTurn);
  const kept = history.filter((item, index) => index < first || (index < cut && outlivesTurns(item)));
  return [...kept, ...withoutLooseOutputs(history.slice(cut))];
}

/** Where the oldest turn begins that is still seen; 0 when all are. */
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

function beginsTurn(item: ResponseItem): boolean {
  return isRealUserMessage(item) && !isKeptMessage(item);
}

function outlivesTurns(item: ResponseItem): boolean {
  switch (item.type) {
    case "ghost_snapshot":
    case "compaction":
    case "compaction_summary":
    case "context_compaction":
      return true;
    default:
      return isKeptMessage(item);
  }
}

/** By its flag, or, where Codex made it, by how it begins. What is pinned outlives turns as well. */
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
