import type { Notice, RetentionState } from "./retention-state.js";

/** Something whose time has come. */
export interface Due {
  readonly key: string;
  readonly updatedAt: number;
  /** The reason, where there is more than one to go. */
  readonly why?: string;
}

export interface RetentionPlan<T extends Due> {
  /** Named now for the first time. */
  readonly announced: readonly T[];
  /** Named before, and it is not time yet. */
  readonly pending: readonly T[];
  /** Named before, often and long enough ago. */
  readonly ripe: readonly T[];
  /** What is remembered when all of it was really shown. */
  readonly next: RetentionState;
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** Nothing goes within so many days of being named, */
export const noticeDays = 7;
/** nor before it was shown again on so many other days: a clock that has jumped counts as one day, however far. */
export const minReminders = 3;
/** So many are named at once: what is not named does not go. */
export const maxNamed = 20;
/** A day, for somebody who comes at about the same hour. */
const minGapMs = 20 * hourMs;
/** After a longer time somebody was away, or the clock is wrong; both ways everything is said anew. */
const maxGapMs = 7 * dayMs;
/** So far a clock may be set back without having been wrong. */
const toleratedMs = hourMs;

/** Whether it is another day, or a time that cannot be: once a day is enough. */
export function isTimeToRun(state: Pick<RetentionState, "ranAt"> | undefined, now: number): boolean {
  if (state === undefined) return true;
  const gap = now - state.ranAt;
  return gap >= minGapMs || gap < -toleratedMs;
}

/**
 * What becomes of what is due. Two things must agree before anything goes: the clock, by which the notice is seven days
 * old, and the days on which it was shown, of which each is more than a day and less than a week after the last.
 */
export function planRetention<T extends Due>(
  state: RetentionState | undefined,
  due: readonly T[],
  now: number,
): RetentionPlan<T> {
  const gap = now - (state?.ranAt ?? 0);
  const before = state !== undefined && gap >= minGapMs && gap <= maxGapMs ? state.notices : {};
  const [fresh, pending, ripe]: [T[], T[], T[]] = [[], [], []];
  const notices: Record<string, Notice> = {};
  for (const one of due) {
    const known = Object.hasOwn(before, one.key) ? before[one.key] : undefined;
    // Who followed the advice against one reason has not heard of another.
    if (known === undefined || known.updatedAt !== one.updatedAt || known.why !== one.why) {
      fresh.push(one);
      continue;
    }
    const notice = { ...known, reminders: known.reminders + 1 };
    if (notice.reminders >= minReminders && now - notice.since >= noticeDays * dayMs) {
      // Its notice is used up: what is brought back, or could not go, is named anew.
      ripe.push(one);
    } else {
      pending.push(one);
      notices[one.key] = notice;
    }
  }
  const announced = fresh.slice(0, maxNamed);
  for (const { key, updatedAt, why } of announced) notices[key] = { since: now, reminders: 0, updatedAt, why };
  return { announced, pending, ripe, next: { version: 1, ranAt: now, notices } };
}
