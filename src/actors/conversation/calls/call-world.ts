import type { EventMsg } from "../../../messages/event.js";
import type { SaveOutcome } from "../../../messages/rollout-command.js";
import type { FileStamps } from "../../../tools/files/file-stamps.js";
import type { EarlierItem, SaveKnowledge } from "../../../tools/tool.js";
import type { ActiveTurn } from "../turn/active-turn.js";
import type { KeptOutputs } from "./kept-outputs.js";
import type { Approvals } from "./approvals.js";
import type { PreparedCall } from "./prepare-call.js";
import type { Settings } from "../state/settings.js";
import type { TurnChanges } from "../turn/turn-changes.js";
import type { TurnBudget } from "../turn/turn-budget.js";

/** What the calls of one turn run with, besides their arguments. */
export interface CallWorld {
  readonly turn: ActiveTurn;
  readonly settings: Settings;
  /** The real path of the project the turn works in; undefined when its folder is gone. */
  projectRoot(): Promise<string | undefined>;
  /** Whether the user trusts the project at this root. */
  isTrusted(root: string): Promise<boolean>;
  readonly approvals: Approvals;
  /** Commands a person has allowed for the whole conversation. */
  readonly allowed: Set<string>;
  readonly budget: TurnBudget;
  readonly env: Readonly<Record<string, string>>;
  readonly privatePaths: readonly string[];
  readonly stamps: FileStamps;
  /** The calls that run now. */
  readonly running: Set<string>;
  /** Where outputs are kept as a whole, and the room for them until then; absent when they are not kept. */
  readonly outputs?: KeptOutputs | undefined;
  /** Finds out what the turn changes; absent when nothing is saved. */
  readonly changes?: TurnChanges | undefined;
  /** What was compacted away; absent when nothing is saved. */
  readonly earlier?: () => AsyncIterable<EarlierItem>;
  /** Absent when nothing is to be remembered. */
  readonly saveKnowledge?: SaveKnowledge | undefined;
  newId(): string;
  publish(msg: EventMsg): void;
  flush(): Promise<SaveOutcome>;
}

export type RunnableCall = Extract<PreparedCall, { type: "run" }>;

/** How a call ended: with a text for the model; without one when the turn ends, and `stop` when a person wants that. */
export type CallEnd =
  | {
      readonly type: "output";
      readonly text: string;
      /** Whether the call did what was asked. */
      readonly success: boolean;
      /** What the model shall see besides. */
      readonly images?: readonly string[] | undefined;
      /** What the text is only a part of. */
      readonly whole?: string | undefined;
    }
  | { readonly type: "no_output" }
  | { readonly type: "stop" };
