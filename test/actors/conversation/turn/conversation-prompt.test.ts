import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConversationPrompt } from "../../../../src/actors/conversation/turn/system-prompt.js";

const cwd = "/project";
const bare = { cwd, text: "bare", notices: [] };
const whole = { cwd, text: "whole", notices: ["AGENTS.md was cut"] };
const never = new Promise<never>(() => {});

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

test("unresponsive project files do not block the start of a turn, and the warning is shown once", async () => {
  let files: Promise<typeof whole> = Promise.resolve(whole);
  const told = new ConversationPrompt({ current: () => files, bare: () => bare });
  const { signal } = new AbortController();
  expect(told.text(cwd)).toBe("bare");
  expect(await told.refresh(cwd, signal)).toEqual(["AGENTS.md was cut"]);
  expect(await told.refresh(cwd, signal)).toEqual([]);
  files = never;
  const late = told.refresh(cwd, signal);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await late).toEqual(["Reading the instruction files timed out: the model gets their earlier text"]);
  expect(told.text(cwd)).toBe("whole");
  const later = told.refresh(cwd, signal);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await later).toEqual([]);
});

test("an interrupted wait for the system prompt shows no warning", async () => {
  const controller = new AbortController();
  const told = new ConversationPrompt({ current: () => never, bare: () => bare });
  const looking = told.refresh(cwd, controller.signal);
  controller.abort();
  expect(await looking).toEqual([]);
  expect(told.text(cwd)).toBe("bare");
});

test("time in which the event loop was blocked does not count towards the timeout of project files", async () => {
  const told = new ConversationPrompt({ current: afterSomeRounds, bare: () => bare });
  const looking = told.refresh(cwd, new AbortController().signal);
  // Simulates a busy event loop: in each round all timers are due.
  for (let round = 0; round < 10; round += 1) {
    vi.advanceTimersByTime(10_000);
    await setImmediate();
  }
  expect(await looking).toEqual(["AGENTS.md was cut"]);
});

async function afterSomeRounds(): Promise<typeof whole> {
  for (let round = 0; round < 8; round += 1) await setImmediate();
  return whole;
}
