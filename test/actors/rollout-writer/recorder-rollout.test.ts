import { expect, test } from "vitest";
import {
  recorderRollout,
  type CompactionRecord,
  type TurnRecorder,
} from "../../../src/actors/rollout-writer/recorder.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import type { OwnLine } from "../../../src/messages/rollout-line.js";
import { linesOfTurn, type RolloutTurn } from "../../../src/rollouts/turns.js";

const at = Date.parse("2026-11-16T00:00:00.000Z");

class MemoryRecorder implements TurnRecorder {
  readonly turns: RolloutTurn[] = [];
  readonly compactions: CompactionRecord[] = [];
  fault: Error | undefined;

  async appendTurn(_id: string, given: RolloutTurn): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    this.turns.push(given);
  }

  async readRollout(): Promise<RolloutTurn[]> {
    return this.turns;
  }

  async list(): Promise<[]> {
    return [];
  }

  async appendCompacted(_id: string, record: CompactionRecord): Promise<void> {
    this.compactions.push(record);
  }
}

function message(role: "user" | "assistant", text: string): ResponseItem {
  return { type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] };
}

function turn(text: string): RolloutTurn {
  const items = [message("user", text), message("assistant", `${text}!`)];
  return { timestamp: at, items, metadata: { provider: "p", model: "m", tokens: 3 } };
}

test("each turn is recorded once, after it has ended", async () => {
  const recorder = new MemoryRecorder();
  const rollout = recorderRollout(recorder, "conv", { provider: "p", model: "m" });
  for (const text of ["one", "two"]) {
    for (const line of linesOfTurn(turn(text), at)) {
      expect(recorder.turns.some(({ items }) => items.length === 1)).toBe(false);
      rollout.append(line);
      expect(await rollout.flush()).toEqual({ status: "saved" });
    }
  }
  expect(await rollout.close()).toEqual({ status: "saved" });
  expect(recorder.turns).toEqual([turn("one"), turn("two")]);
});

test("a refused turn is recorded once with the next flush, before the next turn", async () => {
  const recorder = new MemoryRecorder();
  const rollout = recorderRollout(recorder, "conv", {});
  recorder.fault = new Error("permission denied");
  for (const line of linesOfTurn(turn("one"), at)) rollout.append(line);
  expect(await rollout.flush()).toEqual({ status: "not_saved", reason: "permission denied" });
  expect(await rollout.flush()).toEqual({ status: "not_saved", reason: "permission denied" });
  recorder.fault = undefined;
  for (const line of linesOfTurn(turn("two"), at)) rollout.append(line);
  expect(await rollout.flush()).toEqual({ status: "saved" });
  expect(recorder.turns).toEqual([turn("one"), turn("two")]);
});

test("concurrent flushes record a turn once", async () => {
  const recorder = new MemoryRecorder();
  const rollout = recorderRollout(recorder, "conv", {});
  for (const line of linesOfTurn(turn("one"), at)) rollout.append(line);
  await Promise.all([rollout.flush(), rollout.flush(), rollout.flush()]);
  expect(recorder.turns).toHaveLength(1);
});

test("an unfinished turn is recorded on close with the items it has", async () => {
  const recorder = new MemoryRecorder();
  const rollout = recorderRollout(recorder, "conv", {});
  for (const line of linesOfTurn(turn("one"), at).slice(0, 4)) rollout.append(line);
  await rollout.close();
  expect(recorder.turns.map(({ items }) => items)).toEqual([[message("user", "one")]]);
});

test("a compaction is recorded, unless the recorder does not support it", async () => {
  const compacted: OwnLine = {
    timestamp: new Date(at).toISOString(),
    type: "compacted",
    payload: { message: "summary" },
  };
  const recorder = new MemoryRecorder();
  const rollout = recorderRollout(recorder, "conv", {});
  rollout.append(compacted);
  await rollout.flush();
  expect(recorder.compactions).toEqual([{ timestamp: at, summary: "summary", truncatedCount: 0 }]);
  const plain: TurnRecorder = {
    appendTurn: async () => {},
    readRollout: async () => [],
    list: async () => [],
  };
  const other = recorderRollout(plain, "conv", {});
  other.append(compacted);
  expect(await other.flush()).toEqual({ status: "saved" });
});

test("a replaced history is recorded as a turn marked as such, before the following turn", async () => {
  const recorder = new MemoryRecorder();
  const rollout = recorderRollout(recorder, "conv", { provider: "p", model: "m" });
  const items = [message("user", "before")];
  rollout.append({
    timestamp: new Date(at).toISOString(),
    type: "cody",
    payload: { type: "history_replaced", items },
  });
  recorder.fault = new Error("permission denied");
  for (const line of linesOfTurn(turn("one"), at)) rollout.append(line);
  expect(await rollout.flush()).toEqual({ status: "not_saved", reason: "permission denied" });
  recorder.fault = undefined;
  expect(await rollout.flush()).toEqual({ status: "saved" });
  const replaced = { timestamp: at, items, metadata: { provider: "p", model: "m", replaces: true } };
  expect(recorder.turns).toEqual([replaced, turn("one")]);
});

test("the rollout is full at a thousand waiting turns, until the recorder accepts them", async () => {
  const recorder = new MemoryRecorder();
  recorder.fault = new Error("permission denied");
  const rollout = recorderRollout(recorder, "conv", {});
  const lines = linesOfTurn(turn("one"), at);
  const add = (turns: number) => {
    for (let number = 0; number < turns; number += 1) for (const line of lines) rollout.append(line);
  };
  add(999);
  expect(rollout.full).toBe(false);
  add(1);
  expect(rollout.full).toBe(true);
  expect(await rollout.flush()).toEqual({ status: "not_saved", reason: "permission denied" });
  // Turns that arrive although it is full, such as one already running, are kept.
  add(1);
  recorder.fault = undefined;
  // No turn begins while it is full, so nothing calls flush: reading `full` must trigger a retry.
  expect(rollout.full).toBe(true);
  await expect.poll(() => recorder.turns.length).toBe(1_001);
  expect(rollout.full).toBe(false);
  expect(await rollout.flush()).toEqual({ status: "saved" });
});
