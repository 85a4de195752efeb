import * as z from "zod";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Permissions = z.number().int().min(0).max(0o777);

/** One version of a file. Its content is stored beside the record, in a file named by the hash. */
export const KeptVersion = z.object({
  mode: z.enum(["100644", "100755", "120000"]),
  /** Absent for a link, and in records of versions that did not store permissions. */
  permissions: Permissions.optional(),
  sha256: Sha256,
  bytes: z.number().int().nonnegative(),
});
export type KeptVersion = z.infer<typeof KeptVersion>;

/** A changed file with its versions before and after. */
export const KeptFile = z.object({
  /** Relative to `root`. */
  path: z.string(),
  before: KeptVersion.nullable(),
  after: KeptVersion.nullable(),
});
export type KeptFile = z.infer<typeof KeptFile>;

/** A folder that was created or removed: its permissions, or null while it did not exist. */
export const KeptFolder = z.object({
  path: z.string(),
  before: Permissions.nullable(),
  after: Permissions.nullable(),
});
export type KeptFolder = z.infer<typeof KeptFolder>;

/** A changed file that cannot be shown or restored, and the reason. */
export const LeftOutFile = z.object({
  path: z.string(),
  why: z.enum(["too_large", "unreadable", "secret", "odd_name"]),
});
export type LeftOutFile = z.infer<typeof LeftOutFile>;

/** The file changes of a turn, or of undoing one, in a folder. Stored in its own file beside the rollout. */
export const ChangeRecord = z.object({
  version: z.literal(1),
  kind: z.enum(["turn", "undo"]),
  turn_id: z.string(),
  /** The number of the record that was undone. */
  of: z.number().int().positive().optional(),
  root: z.string(),
  at: z.string(),
  files: z.array(KeptFile),
  /** Absent in records of versions that did not store folders. */
  folders: z.array(KeptFolder).optional(),
  left_out: z.array(LeftOutFile),
});
export type ChangeRecord = z.infer<typeof ChangeRecord>;

/** The running turn, and the tree of its folder before the first change. */
export const OpenSnapshot = z.object({
  version: z.literal(1),
  turn_id: z.string(),
  root: z.string(),
  tree: Sha256,
  /** Hash of the content that lists the folders; absent in snapshots of versions that did not store them. */
  folders: Sha256.optional(),
  /** Hash of the content that lists the ignore rules which are in no `.gitignore`. */
  excludes: Sha256.optional(),
  at: z.string(),
});
export type OpenSnapshot = z.infer<typeof OpenSnapshot>;
