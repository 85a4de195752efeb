import { estimateItemTokens } from "../../../compaction/tokens/estimate-tokens.js";
import { newestTurns } from "../../../compaction/cut/newest-turns.js";
import type { TokenUsage } from "../../../messages/token-usage.js";
import {
  type HistoryMessage,
  messagesOf,
  type ToolCallRecord,
  toolCallsOf,
} from "../../../rollouts/history-messages.js";
import type { ConversationState } from "./state.js";

/** A turn that has ended. */
export interface CompletedTurn {
  /** Null for a turn its rollout does not name, and for what a compaction has left of turns. */
  readonly turn_id: string | null;
  readonly messages: readonly HistoryMessage[];
  readonly tool_calls: readonly ToolCallRecord[];
  /** All that its model calls have used. */
  readonly token_usage: TokenUsage;
  /** When it began, in UTC. */
  readonly timestamp: string;
}

export interface HistoryParts {
  readonly state: Readonly<ConversationState>;
  readonly maxTurns: number;
  countTokens(text: string): number;
  clear(): Promise<void>;
}

/** What the model has to go by, turn by turn: made anew whenever it is asked for, and as JSON its three fields. */
export class ConversationHistory {
  readonly #parts: HistoryParts;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  /** The newest turns that have ended; older ones are in the rollout. */
  get turns(): CompletedTurn[] {
    const { history, marks, openTurn } = this.#parts.state;
    const ended = marks.flatMap((mark, index) =>
      openTurn !== undefined && mark.id === openTurn.id ? [] : [{ ...mark, to: marks[index + 1]?.from }],
    );
    return ended.slice(-this.#parts.maxTurns).map(({ id, timestamp, from, to, usage }) => {
      const items = history.slice(from, to);
      const said = { messages: messagesOf(items), tool_calls: toolCallsOf(items) };
      return { turn_id: id, ...said, token_usage: usage, timestamp };
    });
  }

  get max_turns(): number {
    return this.#parts.maxTurns;
  }

  /** What all model calls have used since the beginning, or since it was cleared. */
  get total_tokens(): number {
    return this.#parts.state.usage?.total_token_usage.total_tokens ?? 0;
  }

  /** What the model would see now, as one list. */
  getMessagesForApi(): HistoryMessage[] {
    return messagesOf(this.#seen());
  }

  /** How long that is. */
  estimateTokens(): number {
    return estimateItemTokens(this.#seen(), (text) => this.#parts.countTokens(text));
  }

  /** The model begins anew and nothing is counted any more; the rollout keeps all. Rejects while a turn runs. */
  async clear(): Promise<void> {
    await this.#parts.clear();
  }

  toJSON(): Pick<ConversationHistory, "turns" | "max_turns" | "total_tokens"> {
    return { turns: this.turns, max_turns: this.max_turns, total_tokens: this.total_tokens };
  }

  #seen() {
    return newestTurns(this.#parts.state.history, this.#parts.maxTurns);
  }
}
