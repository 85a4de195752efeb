import type { RolloutFinding } from "../../../../rollouts/repair/check-rollout.js";

/** A problem or note reported by doctor. */
export type Finding = RolloutFinding | StoreFinding;

/** A problem with a file or a folder. For a rollout, `id` names its conversation. */
export type StoreFinding = { readonly path: string; readonly id?: string } & (
  | { readonly kind: "not_regular" }
  | { readonly kind: "not_a_directory" }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "unwritable"; readonly reason: string }
  | { readonly kind: "foreign_owner"; readonly uid: number }
  /** `remedy` is the mode for `chmod`. */
  | { readonly kind: "exposed"; readonly mode: string; readonly others: string; readonly remedy: string }
  | { readonly kind: "dead_lock"; readonly pid: number }
  | { readonly kind: "far_lock"; readonly owner: string }
  | { readonly kind: "garbled_lock" }
  | { readonly kind: "temporary" }
  /** The old content of a file whose change was interrupted by the death of its process. */
  | { readonly kind: "last_copy" }
  /** The content does not match the hash in its name. */
  | { readonly kind: "changed_blob" }
  /** The rollout these contents belong to is gone. */
  | { readonly kind: "orphaned_blobs"; readonly blobs: number }
  | { readonly kind: "dead_sockets"; readonly sockets: number }
  | { readonly kind: "unusable_config"; readonly reason: string }
);

/** Whether a person must act. Other findings are fixed by using cody, or do no harm. */
export const needsUser = {
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
