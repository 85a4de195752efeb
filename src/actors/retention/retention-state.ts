import { readFile } from "node:fs/promises";
import * as z from "zod";
import { homePaths } from "../../config/paths.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";

/**
 * Records since when the user has known about a deletion. Times are in milliseconds since 1970, by the clock at the
 * time.
 */
const Notice = z.object({
  /** When it was first announced. */
  since: z.number(),
  /** Number of later days on which it was shown again. */
  reminders: z.number().int().nonnegative(),
  /** When the conversation was last changed; if it continues, the announcement no longer applies. */
  updatedAt: z.number(),
  /** The announced reason; a different one is announced again. */
  why: z.string().optional(),
});
export type Notice = z.infer<typeof Notice>;

const RetentionState = z.object({
  version: z.literal(1),
  /** When retention last ran with its notice shown. */
  ranAt: z.number(),
  /** Keyed by what is deleted: `conversation:<id>` or `trash:<folder>`. */
  notices: z.record(z.string(), Notice),
});
export type RetentionState = z.infer<typeof RetentionState>;

/** Undefined before the first run. An unreadable state is ignored, so that everything is announced again. */
export async function readRetention(home: string): Promise<RetentionState | undefined> {
  try {
    const { success, data } = RetentionState.safeParse(JSON.parse(await readFile(homePaths(home).retention, "utf8")));
    return success ? data : undefined;
  } catch {
    return undefined;
  }
}

export async function writeRetention(home: string, state: RetentionState): Promise<void> {
  await writeAtomic(homePaths(home).retention, `${JSON.stringify(state)}\n`);
}
