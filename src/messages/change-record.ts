import * as z from "zod";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Permissions = z.number().int().min(0).max(0o777);

/** A file as it was or became; the content is the file of this name beside the record. */
export const KeptVersion = z.object({
  mode: z.enum(["100644", "100755", "120000"]),
  /** Who may do what with it; absent for a link, and in records that were made before this was kept. */
  permissions: Permissions.optional(),
  sha256: Sha256,
  bytes: z.number().int().nonnegative(),
});
export type KeptVersion = z.infer<typeof KeptVersion>;

/** A file that has changed, with what it was and became. */
export const KeptFile = z.object({
  /** Relative to the root. */
  path: z.string(),
  before: KeptVersion.nullable(),
  after: KeptVersion.nullable(),
});
export type KeptFile = z.infer<typeof KeptFile>;

/** A folder that was made or removed: who might do what with it, or null where it was not there. */
export const KeptFolder = z.object({
  path: z.string(),
  before: Permissions.nullable(),
  after: Permissions.nullable(),
});
export type KeptFolder = z.infer<typeof KeptFolder>;

/** A file that has changed, and why it cannot be shown or restored. */
export const LeftOutFile = z.object({
  path: z.string(),
  why: z.enum(["too_large", "unreadable", "secret", "odd_name"]),
});
export type LeftOutFile = z.infer<typeof LeftOutFile>;

/** What a turn, or taking one back, has made of the files in a folder; one file of its own beside the rollout. */
export const ChangeRecord = z.object({
  version: z.literal(1),
  kind: z.enum(["turn", "undo"]),
  turn_id: z.string(),
  /** The number of the record that was taken back. */
  of: z.number().int().positive().optional(),
  root: z.string(),
  at: z.string(),
  files: z.array(KeptFile),
  /** Absent in records that were made before this was kept. */
  folders: z.array(KeptFolder).optional(),
  left_out: z.array(LeftOutFile),
});
export type ChangeRecord = z.infer<typeof ChangeRecord>;

/** The turn that is under way, and the tree of its folder before its first change. */
export const OpenSnapshot = z.object({
  version: z.literal(1),
  turn_id: z.string(),
  root: z.string(),
  tree: Sha256,
  /** The content that has its folders; absent in what was written before they were kept. */
  folders: Sha256.optional(),
  /** The content that has the rules by which files were ignored that stand in no `.gitignore`. */
  excludes: Sha256.optional(),
  at: z.string(),
});
export type OpenSnapshot = z.infer<typeof OpenSnapshot>;
