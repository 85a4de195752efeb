import { readFile } from "node:fs/promises";
import * as z from "zod";
import { homePaths } from "../../config/paths.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";

/** Since when somebody knows that something will go. Times are milliseconds since 1970, by whatever clock there was. */
const Notice = z.object({
  /** When it was named for the first time. */
  since: z.number(),
  /** On how many later days it was shown again. */
  reminders: z.number().int().nonnegative(),
  /** When the conversation was last changed; one that goes on is not what was announced. */
  updatedAt: z.number(),
  /** The reason that was given; for another one it is announced anew. */
  why: z.string().optional(),
});
export type Notice = z.infer<typeof Notice>;

const RetentionState = z.object({
  version: z.literal(1),
  /** When retention last ran before somebody's eyes. */
  ranAt: z.number(),
  /** By what goes: `conversation:<id>` or `trash:<folder>`. */
  notices: z.record(z.string(), Notice),
});
export type RetentionState = z.infer<typeof RetentionState>;

/** Undefined before the first run. What cannot be read says nothing, and then everything is announced anew. */
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
