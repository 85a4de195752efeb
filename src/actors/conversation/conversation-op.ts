import type { CompactionOutcome } from "../../messages/compaction.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { Op } from "../../messages/submission.js";
import type { InlineInput } from "../../messages/user-input.js";
import type { UndoReport } from "./turn/undo-changes.js";

/** The ops of the public protocol, with local images already read, and ops that only the handle may send. */
export type ConversationOp =
  | Exclude<Op, { type: "user_input" | "user_turn" }>
  | InputOp
  | { readonly type: "replace_history"; readonly items: readonly ResponseItem[] }
  | { readonly type: "clear_history" }
  | { readonly type: "rename"; readonly name: string }
  | { readonly type: "set_pinned"; readonly pinned: boolean };

export type InputOp = Inlined<Extract<Op, { type: "user_input" }>> | Inlined<Extract<Op, { type: "user_turn" }>>;
type Inlined<T> = Omit<T, "items"> & { readonly items: readonly InlineInput[] };

/** The submission's id, or the reason why the answer was rejected: no such approval request is open. */
export type ApprovalAnswer =
  | { readonly status: "answered"; readonly submissionId: string }
  | { readonly status: "rejected"; readonly message: string };

export interface ConversationAnswers {
  readonly exec_approval: ApprovalAnswer;
  readonly patch_approval: ApprovalAnswer;
  readonly replace_history: "replaced" | "busy";
  readonly compact: CompactionOutcome;
  readonly undo_compaction: CompactionOutcome;
  readonly undo: UndoReport;
  readonly clear_history: "cleared" | "busy";
  readonly rename: "renamed";
  readonly set_pinned: "recorded";
}
