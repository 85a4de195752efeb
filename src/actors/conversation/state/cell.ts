import type { EventMsg } from "../../../messages/event.js";
import type { OutputSchema } from "../../../messages/output-schema.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { InlineInput } from "../../../messages/user-input.js";
import type { FileStamps } from "../../../tools/files/file-stamps.js";
import type { ActiveTurn } from "../turn/active-turn.js";
import type { Settings } from "./settings.js";
import type { ConversationState } from "./state.js";

/** An input that waits for its turn, with the settings that held when it was submitted. */
export interface QueuedInput {
  readonly kind: "input";
  readonly submissionId: string;
  readonly items: readonly InlineInput[];
  readonly settings: Settings;
  /** What the last answer has to fit. */
  readonly outputSchema: OutputSchema | undefined;
  /** Whether the items hold content from outside the project that the user did not write. */
  readonly isOutside: boolean;
}

/** Something else that changes the history, and so waits until no turn runs. */
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
 * What a conversation's readers and its next incarnation find when an incarnation has crashed: the state is always a
 * whole number of applied lines, so starting from it is the same as reading the rollout again.
 */
export interface ConversationCell {
  readonly state: ConversationState;
  readonly waiting: QueuedWork[];
  /** What is being done of it. */
  playing: QueuedWork | undefined;
  /** What the next submission runs with. */
  settings: Settings;
  /** The running turn, or the last one. */
  turn: ActiveTurn | undefined;
  configured: boolean;
  /** The transcript from before the conversation was opened; empty after `session_configured` was published. */
  shown: readonly EventMsg[];
  /** Commands a person has allowed for the whole conversation. Never on disk: a file must not give rights. */
  readonly allowed: Set<string>;
  /** The files the model has seen. */
  readonly stamps: FileStamps;
  /** What the turn before ran with. */
  before: Settings | undefined;
  /** How often compacting by itself came to nothing since it last worked, and how large the context was then. */
  attempts: { readonly failures: number; readonly stalledAt: number };
  /** Up to where it is summarized ahead of time, and the last item before that. */
  preparing: { readonly cut: number; readonly last: ResponseItem } | undefined;
  /** By how much the model's own count differs from ours, as far as it has said. */
  tokenRatio: number | undefined;
}
