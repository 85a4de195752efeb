import type { MessageItem, ResponseItem } from "../../messages/response-item.js";
import type { Compacted, RolloutLine } from "../../messages/rollout-line.js";
import { cutMiddle, estimatedTokens } from "../../base/text/truncate.js";
import { isCodexSummary } from "../../base/codex/codex-summary.js";
import { isContextMessage, isRealUserMessage } from "../../base/codex/context-message.js";

/** Token budget for user messages after a compaction that did not record its new history. */
const keptUserTokens = 20_000;

/**
 * Item types that stay in the history. Ghost snapshots do, so that undo can find them, but are never sent to a model.
 */
const staysInHistory = {
  message: true,
  reasoning: true,
  function_call: true,
  function_call_output: true,
  custom_tool_call: true,
  custom_tool_call_output: true,
  local_shell_call: true,
  web_search_call: true,
  tool_search_call: true,
  tool_search_output: true,
  image_generation_call: true,
  ghost_snapshot: true,
  compaction: true,
  compaction_summary: true,
  context_compaction: true,
  agent_message: true,
  "(unknown)": false,
} satisfies Record<ResponseItem["type"], boolean>;

/** Applies one line to the history: the fold that rebuilds a history from its rollout as Codex does. */
export function applyToHistory(history: ResponseItem[], line: RolloutLine): void {
  switch (line.type) {
    case "response_item":
      if (isHistoryItem(line.payload)) history.push(line.payload);
      return;
    case "compacted":
      replace(history, line.payload.replacement_history ?? summarized(history, line.payload));
      return;
    case "event_msg":
      if (line.payload.type === "thread_rolled_back") history.length = rollbackCut(history, line.payload.num_turns);
      return;
    case "cody":
      if (line.payload.type === "history_replaced") replace(history, line.payload.items);
      return;
    case "session_meta":
    case "turn_context":
    case "(unknown)":
      return;
  }
}

/** Whether a line replaces the complete history before it. */
export function replacesHistory(line: RolloutLine): boolean {
  if (line.type === "compacted") return Array.isArray(line.payload.replacement_history);
  return line.type === "cody" && line.payload.type === "history_replaced";
}

function isHistoryItem(item: ResponseItem): boolean {
  const stays = Object.hasOwn(staysInHistory, item.type) && staysInHistory[item.type];
  return stays && !(item.type === "message" && item.role === "system");
}

function replace(history: ResponseItem[], items: readonly ResponseItem[]): void {
  const kept = items.filter(isHistoryItem);
  history.length = 0;
  // Not `push(...kept)`: a long history would overflow the stack.
  for (const item of kept) history.push(item);
}

/**
 * Rebuilds a history of old versions that recorded only the summary: the newest user texts within the budget, then
 * the summary. Images are left out, as they were for the model.
 */
function summarized(history: readonly ResponseItem[], compacted: Compacted): ResponseItem[] {
  const kept: ResponseItem[] = [];
  let budget = keptUserTokens;
  for (const item of history.toReversed()) {
    if (budget === 0) break;
    if (!isRealUserMessage(item) || item.summary === true) continue;
    const text = item.content.map((part) => ("text" in part ? part.text : "")).join("");
    if (isCodexSummary(text)) continue;
    kept.push(userMessage(cutMiddle(text, budget)));
    budget = Math.max(0, budget - estimatedTokens(text));
  }
  const summary = { ...userMessage(compacted.message || "(no summary available)"), summary: true as const };
  const ghosts = history.filter((item) => item.type === "ghost_snapshot");
  return [...kept.toReversed(), summary, ...ghosts];
}

function userMessage(text: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

/**
 * Returns the length of the history after the last turns are rolled back, together with the context injected before
 * them.
 */
function rollbackCut(history: readonly ResponseItem[], turns: number): number {
  const starts = history.flatMap((item, index) => (isRealUserMessage(item) ? [index] : []));
  const [first] = starts;
  if (turns === 0 || first === undefined) return history.length;
  let cut = starts[Math.max(0, starts.length - turns)] ?? first;
  while (cut > first && isContext(history[cut - 1])) cut -= 1;
  return cut;
}

function isContext(item: ResponseItem | undefined): boolean {
  if (item?.type !== "message") return false;
  return item.role === "developer" || isContextMessage(item);
}
