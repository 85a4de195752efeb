import * as z from "zod";

/** One line of a hunk, without its line break. */
export const DiffLine = z.object({
  type: z.enum(["context", "addition", "deletion"]),
  text: z.string(),
  /** It is the last of its file and has no line break. */
  no_newline: z.literal(true).optional(),
});
export type DiffLine = z.infer<typeof DiffLine>;

/** Lines that changed, with those around them; places count from 1, and are 0 in a file that has no lines. */
export const DiffHunk = z.object({
  old_start: z.number().int().nonnegative(),
  old_count: z.number().int().nonnegative(),
  new_start: z.number().int().nonnegative(),
  new_count: z.number().int().nonnegative(),
  lines: z.array(DiffLine),
});
export type DiffHunk = z.infer<typeof DiffHunk>;

/** What became of one file. */
export const FileDiff = z.object({
  path: z.string(),
  status: z.enum(["modified", "created", "deleted"]),
  /** Both are 0 for what is not text. */
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

/** What the files of a workspace have become; paths are relative to it, in their order. */
export const TurnDiff = z.object({
  /** What `git apply` takes. */
  unified_diff: z.string(),
  summary: DiffSummary,
  files_modified: z.array(z.string()),
  files_created: z.array(z.string()),
  files_deleted: z.array(z.string()),
  /** Each with its hunks. */
  files: z.array(FileDiff),
  /** So many files are in neither, nor in `unified_diff`: it would be too long. `cody diff` has them. */
  left_out: z.number().int().positive().optional(),
});
export type TurnDiff = z.infer<typeof TurnDiff>;
