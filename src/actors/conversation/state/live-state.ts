import { GrowingText } from "../../../base/text/growing-text.js";
import type { RunnableCallItem } from "../calls/call-items.js";
import type { MirrorChange, Settings, TurnStatus } from "../../../messages/actors/conversation.js";
import type { EventMsg } from "../../../messages/event.js";
import type { OutputSchema } from "../../../messages/output-schema.js";
import type { CompactorEvent } from "../../../messages/actors/compactor.js";
import type { InlineInput } from "../../../messages/user-input.js";
import type { FileStamps } from "../../../tools/files/file-stamps.js";
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
  /** Whether the rollout records the submission, so that it is recognized when it is sent again. */
  readonly isRecorded: boolean;
  readonly key: string | undefined;
  readonly items: readonly InlineInput[];
  readonly settings: Settings;
  /** The JSON schema that the last answer must match. */
  readonly outputSchema: OutputSchema | undefined;
  /** Whether the items contain content from outside the project that the user did not write. */
  readonly isOutside: boolean;
  /** A call that the user makes: the turn runs it and asks no model. */
  readonly userCall?: RunnableCallItem;
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
  /** Inputs for the running turn, which takes them before its next model call. Those it does not take begin the next. */
  readonly steered: QueuedInput[];
  /** The work in progress. */
  running: QueuedWork | undefined;
  /** The settings of the next submission. */
  settings: Settings;
  /** The running turn, or the last one. */
  turn: ActiveTurn | undefined;
  /** Whether an incarnation has started. */
  isStarted: boolean;
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
  /** The system prompt that the handle knows. */
  prompt: string;
  /** The model that the user was last told to have no known price. */
  unpricedModel?: string;
}

/** The running turn, or the last one, with the data that is not in the rollout because it is unfinished. */
export class ActiveTurn {
  readonly turnId: string;
  /** The submission that began it; empty if another process did. */
  readonly submissionId: string;
  readonly startedAt: Date;
  readonly input: readonly InlineInput[];
  /**
   * The source of the first content that the user did not write and that is not from the project: a tool, the web, or
   * the message.
   */
  outsideSource: string | undefined;
  readonly #publish: (change: MirrorChange) => void;
  #status: TurnStatus = { status: "processing" };
  #openMessage = new OpenText();
  #openReasoning = new OpenText();

  constructor(
    turn: Pick<ActiveTurn, "turnId" | "submissionId" | "startedAt" | "input">,
    publish: (change: MirrorChange) => void,
  ) {
    this.turnId = turn.turnId;
    this.submissionId = turn.submissionId;
    this.startedAt = turn.startedAt;
    this.input = turn.input;
    this.#publish = publish;
    const { turnId, submissionId, startedAt } = turn;
    publish({ type: "turn", turnId, submissionId, startedAt: startedAt.getTime() });
  }

  get status(): TurnStatus {
    return this.#status;
  }

  set status(status: TurnStatus) {
    if (status.status === this.#status.status && status.status === "processing") return;
    this.#status = status;
    this.#publish({ type: "turn_status", turn: status });
  }

  noteOutside(source: string): void {
    this.outsideSource ??= source;
  }

  /** The text of the unfinished message. */
  get openMessage(): { readonly itemId: string; readonly text: string } {
    return this.#openMessage.content;
  }

  /** The text of the unfinished reasoning. */
  get openReasoning(): { readonly itemId: string; readonly text: string } {
    return this.#openReasoning.content;
  }

  addText(itemId: string, delta: string): void {
    this.#openMessage.add(itemId, delta);
  }

  addReasoning(itemId: string, delta: string): void {
    this.#openReasoning.add(itemId, delta);
  }

  finishMessage(): void {
    this.#openMessage = new OpenText();
  }

  finishReasoning(): void {
    this.#openReasoning = new OpenText();
  }
}

/** The text of an item that the model has not finished. */
class OpenText {
  readonly #text = new GrowingText();
  #itemId = "";

  add(itemId: string, delta: string): void {
    this.#itemId = itemId;
    this.#text.add(delta);
  }

  get content(): { readonly itemId: string; readonly text: string } {
    return { itemId: this.#itemId, text: this.#text.toString() };
  }
}
