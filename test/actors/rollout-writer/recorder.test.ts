import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RolloutRecorder } from "../../../src/actors/rollout-writer/recorder.js";
import {
  ConversationInUseError,
  ConversationNotFoundError,
  CorruptedRolloutError,
  EmptyRolloutError,
  InvalidInputError,
} from "../../../src/base/errors.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import type { RolloutTurn } from "../../../src/rollouts/turns.js";
import { FailureError } from "../../../src/messages/failure-error.js";

let directory = "";
let base = "";
let recorders: RolloutRecorder[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cody-recorder-"));
  base = join(directory, "conversations");
  recorders = [];
});
afterEach(async () => {
  await Promise.all(recorders.map((recorder) => recorder.close()));
  rmSync(directory, { recursive: true });
});

function start(): RolloutRecorder {
  const recorder = new RolloutRecorder(base, { env: { XDG_RUNTIME_DIR: directory } });
  recorders.push(recorder);
  return recorder;
}

const at = Date.parse("2026-11-16T00:00:00.000Z");

function turn(text: string, metadata?: RolloutTurn["metadata"]): RolloutTurn {
  const items: ResponseItem[] = [
    { type: "message", role: "user", content: [{ type: "input_text", text }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: `${text}!` }] },
  ];
  return { timestamp: at, items, ...(metadata === undefined ? {} : { metadata }) };
}

function userItem(part: object): ResponseItem {
  return { type: "message", role: "user", content: [part] } as unknown as ResponseItem;
}

const labels = { provider: "openai", model: "gpt-4o", tokens: 7 };

function lines(id: string): { type: string; metadata?: unknown }[] {
  const text = readFileSync(join(base, `${id}.jsonl`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
}

test("turns are read back as they were appended, by the same recorder and by a new one", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", turn("Hello, I am Alice", labels));
  await recorder.appendTurn("conv_1", turn("two"));
  const expected = [turn("Hello, I am Alice", labels), turn("two")];
  expect(await recorder.readRollout("conv_1")).toEqual(expected);
  await recorder.close();
  const next = start();
  await next.appendTurn("conv_1", turn("three"));
  expect(await next.readRollout("conv_1")).toEqual([...expected, turn("three")]);
});

test("a rollout has one first line, with provider and model", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", turn("one", labels));
  await recorder.appendTurn("conv_1", turn("two", labels));
  const [first, ...rest] = lines("conv_1");
  expect(first).toMatchObject({ type: "session_meta", metadata: { provider: "openai", model: "gpt-4o", format: 1 } });
  expect(rest.some(({ type }) => type === "session_meta")).toBe(false);
});

test("turns without metadata are read back without metadata", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", turn("one"));
  expect(await recorder.readRollout("conv_1")).toEqual([turn("one")]);
  expect(await recorder.list()).toMatchObject([{ id: "conv_1" }]);
});

test("a file is only ever appended to", async () => {
  const recorder = start();
  let before = "";
  for (let number = 0; number < 20; number += 1) {
    await recorder.appendTurn("conv_1", turn(`turn ${number}`));
    const now = readFileSync(join(base, "conv_1.jsonl"), "utf8");
    expect(now.startsWith(before)).toBe(true);
    before = now;
  }
  expect(await recorder.readRollout("conv_1")).toHaveLength(20);
});

test("a bare UUID and the conv_ form are the same conversation", async () => {
  const recorder = start();
  const uuid = "01a1e1d7-dabe-7fa0-8c45-6d698618970c";
  await recorder.appendTurn(uuid, turn("one"));
  await recorder.appendTurn(`conv_${uuid}`, turn("two"));
  expect(await recorder.readRollout(uuid)).toHaveLength(2);
  expect(lines(`conv_${uuid}`)[0]).toMatchObject({ payload: { id: uuid } });
});

test("conversations are listed newest first", async () => {
  const recorder = start();
  expect(await recorder.list()).toEqual([]);
  await recorder.appendTurn("conv_1", turn("one", labels));
  await recorder.appendTurn("conv_2", turn("two", labels));
  // The kernel's clock for file times ticks every few milliseconds, and three turns can fall into one tick.
  utimesSync(join(base, "conv_2.jsonl"), at / 1000, at / 1000);
  await recorder.appendTurn("conv_1", turn("three", labels));
  const list = await recorder.list();
  expect(list.map(({ id }) => id)).toEqual(["conv_1", "conv_2"]);
  expect(list[0]).toEqual({
    id: "conv_1",
    updatedAt: expect.any(Number) as number,
    provider: "openai",
    model: "gpt-4o",
  });
});

test("missing, empty and damaged files are distinguished", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", turn("one"));
  await expect(recorder.readRollout("conv_2")).rejects.toThrow(ConversationNotFoundError);
  await expect(recorder.readRollout("../../etc/passwd")).rejects.toThrow(ConversationNotFoundError);
  await expect(recorder.appendTurn("../x", turn("one"))).rejects.toThrow(ConversationNotFoundError);
  writeFileSync(join(base, "conv_empty.jsonl"), "");
  await expect(recorder.readRollout("conv_empty")).rejects.toThrow(EmptyRolloutError);
  writeFileSync(join(base, "conv_bad.jsonl"), "invalid json\n{broken");
  await expect(recorder.readRollout("conv_bad")).rejects.toThrow(CorruptedRolloutError);
  await expect(recorder.readRollout("conv_bad")).rejects.toThrow("line 1: not valid JSON");
});

test("an empty file gets its first line with its first turn", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", turn("one"));
  writeFileSync(join(base, "conv_2.jsonl"), "");
  await recorder.appendTurn("conv_2", turn("one", labels));
  expect(lines("conv_2")[0]).toMatchObject({ type: "session_meta" });
});

test("a torn turn is dropped, and the next turn is saved completely", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", turn("one"));
  await recorder.close();
  appendFileSync(join(base, "conv_1.jsonl"), '{"timestamp":"2026');
  const next = start();
  expect(await next.readRollout("conv_1")).toEqual([turn("one")]);
  await next.appendTurn("conv_1", turn("two"));
  expect(await next.readRollout("conv_1")).toEqual([turn("one"), turn("two")]);
  expect(existsSync(join(base, "conv_1.jsonl.torn-1"))).toBe(true);
});

test("after a compaction the summary replaces the earlier turns", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", turn("one"));
  await recorder.appendCompacted("conv_1", { timestamp: at, summary: "they said one", truncatedCount: 2 });
  await recorder.appendTurn("conv_1", turn("two"));
  expect(lines("conv_1").find(({ type }) => type === "compacted")).toMatchObject({
    payload: { message: "Summary of earlier conversation:\n\nthey said one", truncated_count: 2 },
  });
  const items = (await recorder.readRollout("conv_1")).flatMap((read) => read.items);
  const text = "Summary of earlier conversation:\n\nthey said one";
  const summary = { type: "message", role: "user", content: [{ type: "input_text", text }], summary: true };
  expect(items).toEqual([turn("one").items[0], summary, ...turn("two").items]);
});

test("two recorders cannot write one conversation", async () => {
  const [one, two] = [start(), start()];
  await one.appendTurn("conv_1", turn("one"));
  await expect(two.appendTurn("conv_1", turn("two"))).rejects.toThrow(ConversationInUseError);
  expect(await two.readRollout("conv_1")).toEqual([turn("one")]);
  await one.close();
  await two.appendTurn("conv_1", turn("two"));
  expect(await two.readRollout("conv_1")).toEqual([turn("one"), turn("two")]);
});

test("a turn that cannot be saved is refused, and appending it again writes it once", async () => {
  writeFileSync(base, "a file where the directory should be");
  const recorder = start();
  const failure = await recorder.appendTurn("conv_1", turn("one", labels)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(FailureError);
  expect(failure).toMatchObject({
    code: "not_saved",
    message: "conversation conv_1: the turn is not saved: part of its path is a file, not a directory",
  });
  rmSync(base);
  await recorder.appendTurn("conv_1", turn("one", labels));
  await recorder.appendTurn("conv_1", turn("two", labels));
  await recorder.appendTurn("conv_1", turn("two", labels));
  const texts = (await recorder.readRollout("conv_1")).map(({ items }) => items[0]);
  expect(texts).toEqual([turn("one").items[0], turn("two").items[0], turn("two").items[0]]);
});

test("a refused turn that was saved with the next one is not written again when it is appended again", async () => {
  writeFileSync(base, "a file where the directory should be");
  const recorder = start();
  for (const text of ["one", "two"]) {
    await expect(recorder.appendTurn("conv_1", turn(text))).rejects.toMatchObject({ code: "not_saved" });
  }
  rmSync(base);
  for (const text of ["three", "one", "two"]) await recorder.appendTurn("conv_1", turn(text));
  const written = ["one", "two", "three"].map((text) => turn(text));
  expect(await recorder.readRollout("conv_1")).toEqual(written);
  await recorder.appendTurn("conv_1", turn("one"));
  expect(await recorder.readRollout("conv_1")).toEqual([...written, turn("one")]);
});

test("plain text parts are written with Codex's type names, and other shapes are refused", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", { timestamp: at, items: [userItem({ type: "text", text: "hi" })] });
  expect((await recorder.readRollout("conv_1"))[0]?.items).toEqual([userItem({ type: "input_text", text: "hi" })]);
  const bad = { timestamp: at, items: [userItem({ type: "hologram" })] };
  await expect(recorder.appendTurn("conv_1", bad)).rejects.toThrow(InvalidInputError);
});

test("a closed recorder leaves neither locks nor sockets", async () => {
  const recorder = start();
  await recorder.appendTurn("conv_1", turn("one"));
  await recorder.close();
  expect(readdirSync(base)).toEqual(["conv_1.jsonl"]);
  expect(readdirSync(join(directory, "cody"))).toEqual([]);
});
