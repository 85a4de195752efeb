import type { ConversationMsg } from "../../../messages/actors/conversation.js";
import type { SaveOutcome } from "../../../messages/actors/rollout-writer.js";
import type { OpenedSandbox } from "../../../sandbox/sandboxes.js";
import type { FileStamps } from "../../../tools/files/file-stamps.js";
import type { PolicyContext } from "../../../tools/policy/approval-policy.js";
import type { EarlierItem, SaveKnowledge } from "../../../tools/tool.js";
import type { ActiveTurn } from "../state/live-state.js";
import type { ConversationHooks } from "../hooks/conversation-hooks.js";
import type { OutputStore } from "./output-store.js";
import type { Approvals } from "./approvals.js";
import type { PreparedCall } from "./call-items.js";
import type { Permissions } from "./permissions.js";
import type { Settings } from "../state/settings.js";
import type { TurnChanges } from "../turn/turn-changes.js";
import type { TurnBudget } from "../turn/turn-budget.js";

/** The context shared by the calls of one turn. */
export interface CallContext {
  readonly turn: ActiveTurn;
  readonly settings: Settings;
  /** The real path of the turn's project; undefined when its folder no longer exists. */
  projectRoot(): Promise<string | undefined>;
  /** Whether the user trusts the project at this root. */
  isTrusted(root: string): Promise<boolean>;
  readonly approvals: Approvals;
  /** Absent when there are none. */
  readonly hooks?: ConversationHooks | undefined;
  /** Commands that the user has approved for the whole conversation. */
  readonly approvedCommands: Set<string>;
  readonly budget: TurnBudget;
  readonly env: Readonly<Record<string, string>>;
  readonly privatePaths: readonly string[];
  /** The sandbox for the turn's commands, or the reason why there is none. */
  openSandbox(): Promise<OpenedSandbox>;
  readonly permissions: Permissions;
  /** The facts that decide about a call now. A sandbox is looked for only if the decision depends on it. */
  policy(needs: "sandbox" | "no_sandbox"): Promise<PolicyContext>;
  /** Masks secrets in an output before the model gets it. */
  maskOutput(text: string): string;
  readonly stamps: FileStamps;
  /** The ids of the calls that are running. */
  readonly running: Set<string>;
  /** Stores full outputs, and bounds their memory until then; absent when they are not kept. */
  readonly outputs?: OutputStore | undefined;
  /** Records the turn's file changes; absent when nothing is saved. */
  readonly changes?: TurnChanges | undefined;
  /** Reads the items that were compacted away; absent when nothing is saved. */
  readonly earlier?: () => AsyncIterable<EarlierItem>;
  /** Absent when knowledge is not saved. */
  readonly saveKnowledge?: SaveKnowledge | undefined;
  newId(): string;
  publish(msg: ConversationMsg): void;
  flush(): Promise<SaveOutcome>;
}

export type RunnableCall = Extract<PreparedCall, { type: "run" }>;

/**
 * The end of a call: `output` has a text for the model, `no_output` means that the turn is ending, and `stop` that the
 * user wants to stop the turn.
 */
export type CallEnd =
  | {
      readonly type: "output";
      readonly text: string;
      /** Whether the call succeeded. */
      readonly success: boolean;
      /** Images shown to the model with the text. */
      readonly images?: readonly string[] | undefined;
      /** The full output, when `text` is only a part of it. */
      readonly whole?: string | undefined;
    }
  | { readonly type: "no_output" }
  | { readonly type: "stop" };
