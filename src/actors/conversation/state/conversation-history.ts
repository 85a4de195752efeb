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

export interface CompletedTurn {
  /** Null for a turn without an id in the rollout, and for the remains of compacted turns. */
  readonly turn_id: string | null;
  readonly messages: readonly HistoryMessage[];
  readonly tool_calls: readonly ToolCallRecord[];
  /** Total token usage of its model calls. */
  readonly token_usage: TokenUsage;
  /** Its start time, in UTC. */
  readonly timestamp: string;
}

export interface HistoryParts {
  readonly state: Readonly<ConversationState>;
  readonly maxTurns: number;
  countTokens(text: string): number;
  clear(): Promise<void>;
}

/** The history as the model sees it, turn by turn. Computed on each access; its JSON has three fields. */
export class ConversationHistory {
  readonly #parts: HistoryParts;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  /** The newest completed turns; older ones are in the rollout. */
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

  /** Total token usage since the beginning, or since the history was cleared. */
  get total_tokens(): number {
    return this.#parts.state.usage?.total_token_usage.total_tokens ?? 0;
  }

  /** Returns the messages that the model would see now. */
  getMessagesForApi(): HistoryMessage[] {
    return messagesOf(this.#seen());
  }

  /** Estimates the tokens of these messages. */
  estimateTokens(): number {
    return estimateItemTokens(this.#seen(), (text) => this.#parts.countTokens(text));
  }

  /** Clears the history and the token counts; the rollout keeps every line. Rejects while a turn runs. */
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
