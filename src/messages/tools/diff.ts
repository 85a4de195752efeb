import * as z from "zod";

/** One line of a hunk, without its line break. */
export const DiffLine = z.object({
  type: z.enum(["context", "addition", "deletion"]),
  text: z.string(),
  /** The last line of its file, which has no line break. */
  no_newline: z.literal(true).optional(),
});
export type DiffLine = z.infer<typeof DiffLine>;

/** Changed lines with their context. Line numbers start at 1, and are 0 for a file without lines. */
export const DiffHunk = z.object({
  old_start: z.number().int().nonnegative(),
  old_count: z.number().int().nonnegative(),
  new_start: z.number().int().nonnegative(),
  new_count: z.number().int().nonnegative(),
  lines: z.array(DiffLine),
});
export type DiffHunk = z.infer<typeof DiffHunk>;

/** The change of one file. */
export const FileDiff = z.object({
  path: z.string(),
  status: z.enum(["modified", "created", "deleted"]),
  /** Both counts are 0 for binary files. */
  additions: z.number().int().nonnegative(),
  deletions: z.number().int().nonnegative(),
  binary: z.literal(true).optional(),
  hunks: z.array(DiffHunk),
});
export type FileDiff = z.infer<typeof FileDiff>;

export const DiffSummary = z.object({
  files_modified: z.number().int().nonnegative(),
  files_created: z.number().int().nonnegative(),
  files_deleted: z.number().int().nonnegative(),
  total_additions: z.number().int().nonnegative(),
  total_deletions: z.number().int().nonnegative(),
});
export type DiffSummary = z.infer<typeof DiffSummary>;

/** The changes of the files in a workspace. Paths are relative to it and sorted. */
export const TurnDiff = z.object({
  /** In the format of `git apply`. */
  unified_diff: z.string(),
  summary: DiffSummary,
  files_modified: z.array(z.string()),
  files_created: z.array(z.string()),
  files_deleted: z.array(z.string()),
  /** The same files with their hunks. */
  files: z.array(FileDiff),
  /** The number of files missing from `files` and `unified_diff` because of their length. `cody diff` shows them. */
  left_out: z.number().int().positive().optional(),
});
export type TurnDiff = z.infer<typeof TurnDiff>;
