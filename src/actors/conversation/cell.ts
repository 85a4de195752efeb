import type { InlineInput } from "../../messages/user-input.js";
import type { FileStamps } from "../../tools/file-stamps.js";
import type { ActiveTurn } from "./active-turn.js";
import type { Settings } from "./settings.js";
import type { ConversationState } from "./state.js";

/** An input that waits for its turn, with the settings that held when it was submitted. */
export interface QueuedInput {
  readonly submissionId: string;
  readonly items: readonly InlineInput[];
  readonly settings: Settings;
}

/**
 * What a conversation's readers and its next incarnation find when an incarnation has crashed: the state is always a
 * whole number of applied lines, so starting from it is the same as reading the rollout again.
 */
export interface ConversationCell {
  readonly state: ConversationState;
  readonly waiting: QueuedInput[];
  /** The input whose turn runs. */
  playing: QueuedInput | undefined;
  /** What the next submission runs with. */
  settings: Settings;
  /** The running turn, or the last one. */
  turn: ActiveTurn | undefined;
  configured: boolean;
  /** Commands a person has allowed for the whole conversation. Never on disk: a file must not give rights. */
  readonly allowed: Set<string>;
  /** The files the model has seen. */
  readonly stamps: FileStamps;
}
