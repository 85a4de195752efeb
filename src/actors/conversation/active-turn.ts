import type { InlineInput } from "../../messages/user-input.js";
import type { CallItem } from "./open-calls.js";

/** Where a turn stands. */
export type TurnStatus =
  | { readonly status: "processing" }
  | { readonly status: "awaiting_approval"; readonly toolCall: CallItem }
  | { readonly status: "awaiting_tool_result"; readonly callId: string }
  | { readonly status: "completed" }
  | { readonly status: "failed"; readonly error: string }
  | { readonly status: "cancelled" };

export const hasEnded = {
  processing: false,
  awaiting_approval: false,
  awaiting_tool_result: false,
  completed: true,
  failed: true,
  cancelled: true,
} satisfies Record<TurnStatus["status"], boolean>;

/** The running turn, or the last one: what is not in the rollout because it is not finished. */
export interface ActiveTurn {
  readonly turnId: string;
  readonly submissionId: string;
  readonly startedAt: Date;
  readonly input: readonly InlineInput[];
  /** The answer as far as it has come. */
  text: string;
  reasoning: string;
  readonly toolCalls: CallItem[];
  status: TurnStatus;
}
