import { expect, test } from "vitest";
import {
  isTimeToRun,
  maxNamed,
  planRetention,
  type RetentionState,
} from "../../../src/actors/retention/plan-retention.js";

const hour = 60 * 60 * 1000;
const day = 24 * hour;
const start = Date.parse("2026-11-16T00:00:00Z");
const one = { key: "conversation:a", updatedAt: 1 };

/** The plan for one due conversation at each of these times. */
function plansAt(times: readonly number[], due = () => [one]): string[] {
  let state: RetentionState | undefined;
  return times.map((time) => {
    const plan = planRetention(state, due(), start + time);
    state = plan.next;
    return plan.ripe.length > 0
      ? "ripe"
      : plan.pending.length > 0
        ? "pending"
        : plan.announced.length > 0
          ? "new"
          : "none";
  });
}

test("a due conversation is removed a week after its announcement, if the notice was shown on three other days", () => {
  expect(plansAt([0, 1, 2, 6, 7].map((days) => days * day))).toEqual(["new", "pending", "pending", "pending", "ripe"]);
  expect(plansAt([0, 6, 12].map((days) => days * day))).toEqual(["new", "pending", "pending"]);
  expect(plansAt([0, 6, 12, 13].map((days) => days * day)).at(-1)).toBe("ripe");
});

test("a restored conversation is announced again", () => {
  expect(plansAt([0, 1, 2, 6, 7, 8].map((days) => days * day)).slice(-2)).toEqual(["ripe", "new"]);
});

test("a clock jump or a long absence restarts the announcement", () => {
  expect(plansAt([0, 1, 2, 3, 100].map((days) => days * day)).at(-1)).toBe("new");
  expect(plansAt([0, 1, 2, 3, 3 - 400].map((days) => days * day)).at(-1)).toBe("new");
  expect(plansAt([0, 8].map((days) => days * day))).toEqual(["new", "new"]);
});

test("a conversation that changed after its announcement is announced again", () => {
  const versions = [1, 1, 1, 1, 2];
  const due = () => [{ ...one, updatedAt: versions.shift() ?? 0 }];
  expect(
    plansAt(
      [0, 1, 2, 6, 8].map((days) => days * day),
      due,
    ),
  ).toEqual(["new", "pending", "pending", "pending", "new"]);
});

test("a conversation that is due for another reason is announced again", () => {
  const reasons = ["old", "old", "old", "many", "many"];
  const due = () => [{ ...one, why: reasons.shift() ?? "" }];
  expect(
    plansAt(
      [0, 1, 2, 6, 8].map((days) => days * day),
      due,
    ),
  ).toEqual(["new", "pending", "pending", "new", "pending"]);
});

test("a bounded number is announced at once, and only those are recorded", () => {
  const due = Array.from({ length: maxNamed + 5 }, (_, index) => ({ key: `conversation:${index}`, updatedAt: index }));
  const first = planRetention(undefined, due, start);
  expect(first.announced).toEqual(due.slice(0, maxNamed));
  expect(Object.keys(first.next.notices)).toHaveLength(maxNamed);
  const second = planRetention(first.next, due, start + day);
  expect([second.announced, second.pending]).toEqual([due.slice(maxNamed), due.slice(0, maxNamed)]);
});

test("retention runs once a day, and again if the clock was set back far", () => {
  const ran = { ranAt: start };
  expect(isTimeToRun(undefined, start)).toBe(true);
  expect([0, hour, 19 * hour, -hour].map((gap) => isTimeToRun(ran, start + gap))).toEqual([false, false, false, false]);
  expect([20 * hour, 400 * day, -2 * hour].map((gap) => isTimeToRun(ran, start + gap))).toEqual([true, true, true]);
});
