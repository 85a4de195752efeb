import { isCodexSummary } from "../../base/codex/codex-summary.js";
import { isContextMessage, isRealUserMessage } from "../../base/codex/context-message.js";
import { cutMiddle, estimatedTokens } from "../../base/text/truncate.js";
import { type MessageItem, type ResponseItem, itemText } from "../../messages/response-item.js";
import type { Compacted, RolloutLine } from "../../messages/rollout-line.js";

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

/** Whether the history before a line is the beginning of the history after it. */
export function onlyExtends(line: RolloutLine): boolean {
  if (line.type === "event_msg") return line.payload.type !== "thread_rolled_back";
  return line.type !== "compacted" && !replacesHistory(line);
}

function isHistoryItem(item: ResponseItem): boolean {
  const stays = Object.hasOwn(staysInHistory, item.type) && staysInHistory[item.type];
  return stays && !(item.type === "message" && item.role === "system");
}

function replace(history: ResponseItem[], items: readonly ResponseItem[]): void {
  const historyItems = items.filter(isHistoryItem);
  history.length = 0;
  // Not `push(...kept)`: a long history would overflow the stack.
  for (const item of historyItems) history.push(item);
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

/** An item that the model no longer sees. */
interface EarlierItem {
  readonly item: ResponseItem;
  /** Number of the turn, from 1; 0 for items before the first user message. */
  readonly turn: number;
}

/**
 * Yields the items that compactions removed from a history, oldest first. It holds at most the items between two
 * compactions in memory, which once fit a model's context. Items rolled back before a compaction and items still in
 * `history` are left out.
 */
export async function* removedItems(
  batches: AsyncIterable<readonly RolloutLine[]>,
  history: readonly ResponseItem[],
): AsyncGenerator<EarlierItem> {
  const seen = new Set(history.map(keyOf));
  const turns = new WeakMap<ResponseItem, number>();
  const since: ResponseItem[] = [];
  let turn = 0;
  for await (const lines of batches) {
    for (const line of lines) {
      if (line.type === "compacted") {
        for (const item of since.splice(0)) {
          if (isWorded(item) && !seen.has(keyOf(item))) yield { item, turn: turns.get(item) ?? turn };
        }
        continue;
      }
      applyToHistory(since, line);
      if (line.type !== "response_item") continue;
      // A pinned message does not begin a turn.
      if (isRealUserMessage(line.payload) && line.payload.pinned !== true) turn += 1;
      turns.set(line.payload, turn);
    }
  }
}

function isWorded(item: ResponseItem): boolean {
  const isSummary = item.type === "message" && item.summary === true;
  return !isSummary && itemText(item) !== "";
}

/** Identifies an item by the content a reader sees, however it was serialized. */
function keyOf(item: ResponseItem): string {
  const [callId, role] = ["call_id" in item ? item.call_id : "", item.type === "message" ? item.role : ""];
  return JSON.stringify([item.type, role, callId, itemText(item)]);
}
