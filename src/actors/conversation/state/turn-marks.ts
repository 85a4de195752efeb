import type { ResponseItem } from "../../../messages/response-item.js";
import type { RolloutLine } from "../../../messages/rollout-line.js";
import { addUsage, noTokens, type TokenUsage } from "../../../messages/token-usage.js";
import { isRealUserMessage } from "../../../base/codex/context-message.js";

/** The beginning of a turn in the history. */
export interface TurnStart {
  /** Null for a turn without an id, and for the remains of turns whose history was replaced. */
  readonly id: string | null;
  readonly timestamp: string;
  /** The index of its first item. */
  readonly from: number;
  /** Total token usage of its model calls. */
  usage: TokenUsage;
}

interface HistoryWithTurnStarts {
  readonly history: readonly ResponseItem[];
  readonly openTurn: { readonly id: string } | undefined;
  readonly marks: TurnStart[];
}

/** One step of the fold that records where turns begin; the line has already been applied to the rest of the state. */
export function applyToTurnStarts({ history, openTurn, marks }: HistoryWithTurnStarts, line: RolloutLine): void {
  switch (line.type) {
    case "response_item":
      if (openTurn === undefined && isRealUserMessage(line.payload) && history.at(-1) === line.payload) {
        marks.push({ id: null, timestamp: line.timestamp, from: history.length - 1, usage: noTokens });
      }
      return;
    case "event_msg":
      applyEventToTurnStarts(history, marks, line);
      return;
    case "compacted":
      replace(line.timestamp);
      return;
    case "cody":
      if (line.payload.type === "history_replaced") replace(line.timestamp);
      return;
    case "session_meta":
    case "turn_context":
    case "(unknown)":
      return;
  }

  function replace(timestamp: string): void {
    marks.length = 0;
    if (history.length > 0) marks.push({ id: openTurn?.id ?? null, timestamp, from: 0, usage: noTokens });
  }
}

function applyEventToTurnStarts(
  history: readonly ResponseItem[],
  marks: TurnStart[],
  { payload, timestamp }: Extract<RolloutLine, { type: "event_msg" }>,
): void {
  if (payload.type === "task_started") {
    marks.push({ id: payload.turn_id, timestamp, from: history.length, usage: noTokens });
  } else if (payload.type === "thread_rolled_back") {
    while ((marks.at(-1)?.from ?? -1) >= history.length) marks.pop();
  } else if (payload.type === "token_count" && payload.info !== null) {
    const mark = marks.at(-1);
    if (mark !== undefined) mark.usage = addUsage(mark.usage, payload.info.last_token_usage);
  }
}
