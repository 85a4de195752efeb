import * as z from "zod";

/** The result of deleting one conversation. */
export interface ConversationDeleteResult {
  readonly success: boolean;
  readonly sessionId: string;
  /** The size of its files in bytes; zero if it could not be deleted. */
  readonly size: number;
  /** The number of bytes freed on disk: zero while the trash or another hard link still holds them. */
  readonly sizeFreed: number;
  /** Files that were removed but not overwritten, because they have another hard link. */
  readonly hardLinked?: readonly string[];
  readonly error?: string;
}

/** The result of deleting several conversations. A failure does not stop the others from being deleted. */
export interface CleanupResult {
  readonly deletedCount: number;
  readonly totalSize: number;
  readonly totalSizeFreed: number;
  readonly successes: readonly ConversationDeleteResult[];
  readonly failures: readonly ConversationDeleteResult[];
}

/** The reason something is in the trash: somebody asked for it, or retention announced it and nobody objected. */
export const TrashReason = z.enum(["asked", "retention"]);
export type TrashReason = z.infer<typeof TrashReason>;

/** One conversation in the trash, as described by the JSON file beside its files. */
export const TrashEntry = z.object({
  version: z.literal(1),
  id: z.string(),
  /** The original path of its rollout; the other files were in the same folder. */
  path: z.string().startsWith("/"),
  trashedAt: z.iso.datetime(),
  /** It is not removed permanently before this time unless somebody asks for it. */
  until: z.iso.datetime(),
  why: TrashReason,
  bytes: z.number().int().nonnegative(),
  /** The rollout comes first. Names are relative to the folder and cannot lead out of it. */
  files: z
    .array(
      z.object({
        name: z.string().regex(/^(?!\.{0,2}(?:\/|$))[^/\0]+(?:\/(?!\.{0,2}$)[^/\0]+)?$/),
        bytes: z.number().int().nonnegative(),
        mtimeMs: z.number(),
      }),
    )
    .min(1),
});
export type TrashEntry = z.infer<typeof TrashEntry>;

export function cleanupResult(results: readonly ConversationDeleteResult[]): CleanupResult {
  const successes = results.filter(({ success }) => success);
  return {
    deletedCount: successes.length,
    totalSize: successes.reduce((sum, { size }) => sum + size, 0),
    totalSizeFreed: successes.reduce((sum, { sizeFreed }) => sum + sizeFreed, 0),
    successes,
    failures: results.filter(({ success }) => !success),
  };
}
