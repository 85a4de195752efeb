import * as z from "zod";

/** The change of one file, in Codex's format. A diff has no headers, because the path is the record's key. */
export const FileChange = z.discriminatedUnion("type", [
  z.object({ type: z.literal("add"), content: z.string() }),
  z.object({ type: z.literal("delete"), content: z.string() }),
  z.object({ type: z.literal("update"), unified_diff: z.string(), move_path: z.string().nullable() }),
]);
export type FileChange = z.infer<typeof FileChange>;

/** Keyed by the real path of the file. */
export const FileChanges = z.record(z.string(), FileChange);
export type FileChanges = z.infer<typeof FileChanges>;
