import type { EventMsg } from "./event.js";

/** What asks a person, and waits for `exec_approval` or `patch_approval`. */
export type ApprovalMsg = Extract<EventMsg, { type: "exec_approval_request" | "apply_patch_approval_request" }>;

/** Loads no schema library. */
export function isApprovalMsg(msg: EventMsg): msg is ApprovalMsg {
  return msg.type === "exec_approval_request" || msg.type === "apply_patch_approval_request";
}
