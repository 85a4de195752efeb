import { readFile } from "node:fs/promises";
import * as z from "zod";
import { writeAtomic } from "../../base/fs/write-atomic.js";
import { homePaths } from "../../config/paths.js";

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

const RetentionState = z.object({
  version: z.literal(1),
  /** When retention last ran with its notice shown. */
  ranAt: z.number(),
  /** Keyed by what is deleted: `conversation:<id>` or `trash:<folder>`. */
  notices: z.record(z.string(), Notice),
});

/** Something that retention will delete. */
export interface Due {
  readonly key: string;
  readonly updatedAt: number;
  /** The reason, where there can be more than one. */
  readonly why?: string;
}

export interface RetentionPlan<T extends Due> {
  /** Announced now for the first time. */
  readonly announced: readonly T[];
  /** Announced before, but not yet ready to be deleted. */
  readonly pending: readonly T[];
  /** Announced long enough ago and shown often enough to be deleted now. */
  readonly ripe: readonly T[];
  /** The state to save once the notice has really been shown. */
  readonly next: RetentionState;
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** Minimum number of days between an announcement and the deletion. */
export const noticeDays = 7;
/** Minimum number of other days on which it must be shown again; a clock that jumps counts as one day. */
const minReminders = 3;
/** Maximum number of announcements at once; what is not announced is not deleted. */
export const maxNamed = 20;
/** Counts as a day, for a user who comes at about the same hour. */
const minGapMs = 20 * hourMs;
/** After a longer gap the user was away or the clock is wrong; either way everything is announced again. */
const maxGapMs = 7 * dayMs;
/** A clock set back by no more than this is not considered wrong. */
const toleratedMs = hourMs;

/** Whether retention should run: it runs once a day, and again when the clock is implausible. */
export function isTimeToRun(state: Pick<RetentionState, "ranAt"> | undefined, now: number): boolean {
  if (state === undefined) return true;
  const gap = now - state.ranAt;
  return gap >= minGapMs || gap < -toleratedMs;
}

/**
 * Decides what to announce and what to delete. Two conditions must hold before anything is deleted: by the clock, the
 * notice is seven days old; and it was shown on several days, each more than a day and less than a week after the last.
 */
export function planRetention<T extends Due>(
  state: RetentionState | undefined,
  due: readonly T[],
  now: number,
): RetentionPlan<T> {
  const gap = now - (state?.ranAt ?? 0);
  const before = state !== undefined && gap >= minGapMs && gap <= maxGapMs ? state.notices : {};
  const [fresh, pending, expired]: [T[], T[], T[]] = [[], [], []];
  const notices: Record<string, Notice> = {};
  for (const one of due) {
    const known = Object.hasOwn(before, one.key) ? before[one.key] : undefined;
    // A user who acted against one reason has not been warned about another.
    if (known === undefined || known.updatedAt !== one.updatedAt || known.why !== one.why) {
      fresh.push(one);
      continue;
    }
    const notice = { ...known, reminders: known.reminders + 1 };
    if (notice.reminders >= minReminders && now - notice.since >= noticeDays * dayMs) {
      // Its notice is used up: if it is restored, or cannot be deleted, it is announced again.
      expired.push(one);
    } else {
      pending.push(one);
      notices[one.key] = notice;
    }
  }
  const announced = fresh.slice(0, maxNamed);
  for (const { key, updatedAt, why } of announced) notices[key] = { since: now, reminders: 0, updatedAt, why };
  return { announced, pending, ripe: expired, next: { version: 1, ranAt: now, notices } };
}

type Notice = z.infer<typeof Notice>;

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
