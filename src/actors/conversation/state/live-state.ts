import { GrowingText } from "../../../base/text/growing-text.js";
import type { EventMsg } from "../../../messages/event.js";
import type { OutputSchema } from "../../../messages/output-schema.js";
import type { CompactorEvent } from "../../../messages/compactor.js";
import type { InlineInput } from "../../../messages/user-input.js";
import type { FileStamps } from "../../../tools/files/file-stamps.js";
import type { RunnableCallItem } from "../calls/call-items.js";
import type { Settings } from "./settings.js";
import type { ConversationState } from "./state.js";

export const hasEnded = {
  processing: false,
  awaiting_approval: false,
  awaiting_tool_result: false,
  completed: true,
  failed: true,
  cancelled: true,
} satisfies Record<TurnStatus["status"], boolean>;

/** An input that waits for its turn, with the settings at the time of its submission. */
export interface QueuedInput {
  readonly kind: "input";
  readonly submissionId: string;
  readonly items: readonly InlineInput[];
  readonly settings: Settings;
  /** The JSON schema that the last answer must match. */
  readonly outputSchema: OutputSchema | undefined;
  /** Whether the items contain content from outside the project that the user did not write. */
  readonly isOutside: boolean;
}

/** Another operation that changes the history, and therefore waits until no turn runs. */
export type QueuedChange =
  | {
      readonly kind: "compact";
      readonly submissionId: string;
      readonly instructions: string | undefined;
      readonly strategy: string | undefined;
    }
  | { readonly kind: "undo_compaction"; readonly submissionId: string }
  | { readonly kind: "pin"; readonly submissionId: string; readonly text: string };

export type QueuedWork = QueuedInput | QueuedChange;

/**
 * The data that survives a crash of an incarnation, for the conversation's readers and the next incarnation. The state
 * is always the result of whole applied lines, so continuing from it equals reading the rollout again.
 */
export interface ConversationCell {
  readonly state: ConversationState;
  readonly queue: QueuedWork[];
  /** The work in progress. */
  running: QueuedWork | undefined;
  /** The settings of the next submission. */
  settings: Settings;
  /** The running turn, or the last one. */
  turn: ActiveTurn | undefined;
  isConfigured: boolean;
  /** The transcript from before the conversation was opened; empty after `session_configured` was published. */
  shown: readonly EventMsg[];
  /** Commands that the user has approved for the whole conversation. Never on disk: a file must not grant rights. */
  readonly approvedCommands: Set<string>;
  /** Stamps of the files that the model has seen. */
  readonly stamps: FileStamps;
  /** The settings of the previous turn. */
  previousSettings: Settings | undefined;
  /**
   * Failed automatic compactions since the last success, and the context size at which the last attempt stalled; 0 if
   * it did not.
   */
  attempts: { readonly failures: number; readonly stalledAt: number };
  /** Incremented when the history is replaced, and not only extended. Messages to and from the compactor carry it. */
  generation: number;
  /** The newest count by the compactor. */
  counted: Extract<CompactorEvent, { type: "counted" }> | undefined;
  /** The newest summary that the compactor prepares, of the items before `cut`. */
  preparation:
    { readonly generation: number; readonly cut: number; readonly status: "running" | "ready" | "failed" } | undefined;
  /** The ratio of the provider's token count to ours, once known. */
  tokenRatio: number | undefined;
}

/** The current status of a turn. */
export type TurnStatus =
  | { readonly status: "processing" }
  | { readonly status: "awaiting_approval"; readonly toolCall: RunnableCallItem }
  | { readonly status: "awaiting_tool_result"; readonly callId: string }
  | { readonly status: "completed" }
  | { readonly status: "failed"; readonly error: string }
  | { readonly status: "cancelled" };

/** The running turn, or the last one, with the data that is not in the rollout because it is unfinished. */
export class ActiveTurn {
  readonly turnId: string;
  readonly submissionId: string;
  readonly startedAt: Date;
  readonly input: readonly InlineInput[];
  readonly toolCalls: RunnableCallItem[] = [];
  status: TurnStatus = { status: "processing" };
  /**
   * The source of the first content that the user did not write and that is not from the project: a tool, the web, or
   * the message.
   */
  outsideSource: string | undefined;
  readonly #text = new GrowingText();
  readonly #reasoning = new GrowingText();
  /** Length of the text that belongs to finished messages. */
  #finishedLength = 0;
  #openItemId = "";

  constructor(turnId: string, submissionId: string, startedAt: Date, input: readonly InlineInput[]) {
    this.turnId = turnId;
    this.submissionId = submissionId;
    this.startedAt = startedAt;
    this.input = input;
  }

  noteOutside(source: string): void {
    this.outsideSource ??= source;
  }

  /** The answer so far. */
  get text(): string {
    return this.#text.toString();
  }

  get reasoning(): string {
    return this.#reasoning.toString();
  }

  /** The text of the unfinished message. */
  get openMessage(): { readonly itemId: string; readonly text: string } {
    return { itemId: this.#openItemId, text: this.text.slice(this.#finishedLength) };
  }

  addText(itemId: string, delta: string): void {
    this.#openItemId = itemId;
    this.#text.add(delta);
  }

  finishMessage(): void {
    this.#finishedLength = this.#text.length;
  }

  addReasoning(delta: string): void {
    this.#reasoning.add(delta);
  }
}
