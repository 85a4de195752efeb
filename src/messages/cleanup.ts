import * as z from "zod";

/** What became of one conversation that was to be deleted. */
export interface ConversationDeleteResult {
  readonly success: boolean;
  readonly sessionId: string;
  /** How many bytes its files have; zero when it could not be deleted. */
  readonly size: number;
  /** How many bytes are gone from the disk: none as long as the trash, or another hard link, has them. */
  readonly sizeFreed: number;
  /** The files that were removed but not overwritten, because they have another hard link. */
  readonly hardLinked?: readonly string[];
  readonly error?: string;
}

/** What became of several: those that could not be deleted do not keep the others. */
export interface CleanupResult {
  readonly deletedCount: number;
  readonly totalSize: number;
  readonly totalSizeFreed: number;
  readonly successes: readonly ConversationDeleteResult[];
  readonly failures: readonly ConversationDeleteResult[];
}

/** Why something is in the trash: somebody asked for it, or it was announced and nobody objected. */
export const TrashReason = z.enum(["asked", "retention"]);
export type TrashReason = z.infer<typeof TrashReason>;

/** One conversation in the trash, as the file beside its files says. */
export const TrashEntry = z.object({
  version: z.literal(1),
  id: z.string(),
  /** Where its rollout was; the other files were in the same folder. */
  path: z.string().startsWith("/"),
  trashedAt: z.iso.datetime(),
  /** Before this it is not removed for good without being asked. */
  until: z.iso.datetime(),
  why: TrashReason,
  bytes: z.number().int().nonnegative(),
  /** The rollout first. Names are relative to the folder, and nothing leads out of it. */
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
