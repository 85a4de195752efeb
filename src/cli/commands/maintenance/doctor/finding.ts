import type { RolloutFinding } from "../../../../rollouts/repair/check-rollout.js";

/** Something doctor has found. */
export type Finding = RolloutFinding | StoreFinding;

/** What is wrong with a file or a folder; a rollout is also named by the id of its conversation. */
export type StoreFinding = { readonly path: string; readonly id?: string } & (
  | { readonly kind: "not_regular" }
  | { readonly kind: "not_a_directory" }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "unwritable"; readonly reason: string }
  | { readonly kind: "foreign_owner"; readonly uid: number }
  /** `remedy` is what `chmod` is told. */
  | { readonly kind: "exposed"; readonly mode: string; readonly others: string; readonly remedy: string }
  | { readonly kind: "dead_lock"; readonly pid: number }
  | { readonly kind: "far_lock"; readonly owner: string }
  | { readonly kind: "garbled_lock" }
  | { readonly kind: "temporary" }
  /** What a file held before a change that was cut short by a death. */
  | { readonly kind: "last_copy" }
  /** Not the content its name stands for. */
  | { readonly kind: "changed_blob" }
  /** Nobody refers to it: the rollout it was kept for is gone. */
  | { readonly kind: "orphaned_blobs"; readonly blobs: number }
  | { readonly kind: "dead_sockets"; readonly sockets: number }
  | { readonly kind: "unusable_config"; readonly reason: string }
);

/** Whether a person must do something; what need not goes away when cody is used, or is in nobody's way. */
export const needsPerson = {
  damaged: true,
  beginning_missing: true,
  first_line_missing: false,
  torn: false,
  newline_missing: false,
  not_regular: true,
  not_a_directory: true,
  unreadable: true,
  unwritable: true,
  foreign_owner: true,
  exposed: true,
  dead_lock: false,
  far_lock: false,
  garbled_lock: true,
  temporary: false,
  last_copy: false,
  changed_blob: false,
  orphaned_blobs: false,
  dead_sockets: false,
  unusable_config: true,
} satisfies Record<Finding["kind"], boolean>;
