import { appendFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { fileLines, foldLines, loadLargeRollout } from "../../src/actors/conversation/store/load-rollout.js";
import { fileStore } from "../../src/actors/conversation/store/file-store.js";
import type { StoredState } from "../../src/actors/conversation/store/store.js";
import { ConversationNotFoundError, CorruptedRolloutError } from "../../src/base/errors.js";
import { maxLineDepth } from "../../src/rollouts/file/lines.js";
import { type CpuPool, openCpuPool } from "../../src/workers/cpu-pool.js";
import { nested } from "../support/faulty-jobs.js";
import { appendCompaction, summary, writeLargeRollout } from "../support/large-rollout.js";
import { openManager } from "../support/open-conversation.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { plainRedactor } from "../support/redaction.js";

const id = "conv_large";
/** Larger rollouts are read in threads. */
const large = 5 * 1024 * 1024;
const small = 200 * 1024;

async function rolloutOf(bytes: number): Promise<{ home: string; directory: string; path: string }> {
  const home = await temporaryFolder();
  const directory = join(home, "conversations");
  const path = join(directory, `${id}.jsonl`);
  await mkdir(directory);
  await writeLargeRollout(path, id, bytes);
  return { home, directory, path };
}

function openPool(): CpuPool {
  const pool = openCpuPool();
  onTestFinished(() => pool.close());
  return pool;
}

/** Damages the fifth line from the end and returns its number. */
async function damage(path: string, text: string): Promise<number> {
  const lines = (await readFile(path, "utf8")).split("\n");
  const number = lines.length - 5;
  lines[number - 1] = text;
  await writeFile(path, lines.join("\n"));
  return number;
}

/** Splits a file into many short ranges, some of them shorter than a line. */
async function inSegments(pool: CpuPool | undefined, path: string): Promise<StoredState> {
  const { size: bytes } = await stat(path);
  return await loadLargeRollout(pool, { path, conversationId: id, bytes, segmentBytes: 10_000 });
}

function deepLine(levels: number): string {
  const payload = { type: "message", role: "user", content: [], deep: nested(levels) };
  return `${JSON.stringify({ timestamp: "", type: "response_item", payload })}\n`;
}

function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error);
}

test("a large conversation is resumed with all of its history and continues", async () => {
  const { home, path } = await rolloutOf(6 * 1024 * 1024);
  const { state } = await foldLines(fileLines(path, id));
  const { manager } = await openManager({ home, providers: [scripted([says("Welcome back")])] });
  const resumed = await manager.resumeConversation(id, { provider: "scripted", model: "m" });
  // Compared with Node's assert, because a matcher takes seconds for this much data.
  expect(isDeepStrictEqual(resumed.getHistory().slice(0, state.history.length), state.history)).toBe(true);
  expect(resumed.notice).toContain("1 line");
  await resumed.processMessage("hello again");
  expect(resumed.getHistory().at(-1)).toMatchObject({ content: [{ text: "Welcome back" }] });
});

test("a damaged large rollout is refused with the same message as a small one", async () => {
  const { home, path } = await rolloutOf(large);
  const line = await damage(path, "not JSON");
  const { manager } = await openManager({ home });
  expect(await errorOf(manager.resumeConversation(id))).toStrictEqual(
    new CorruptedRolloutError(id, line, "not valid JSON: Unexpected token 'o'"),
  );
});

test("a rollout of which only the effective lines are folded, in threads or here, gives the same conversation", async () => {
  const { path } = await rolloutOf(small);
  await appendCompaction(path);
  await appendFile(path, '{"timestamp":"","type":"of_tomorrow"}\n{"timestamp":"2026-11');
  const here = await foldLines(fileLines(path, id));
  expect(here).toMatchObject({ skipped: 1, state: { openTurn: { id: "open" } } });
  expect(here.state.history).toHaveLength(1_001);
  expect(await inSegments(openPool(), path)).toEqual(here);
  expect(await inSegments(undefined, path)).toEqual(here);
});

test("a rollout without a replaced history is read in the main thread", async () => {
  const { path } = await rolloutOf(small);
  const here = await foldLines(fileLines(path, id));
  expect(await inSegments(openPool(), path)).toEqual(here);
});

test("text that only looks like a replaced history does not count as one", async () => {
  const pool = openPool();
  const call = { type: "tool_search_call", call_id: "1", arguments: { replacement_history: [] } };
  const lines = [
    { type: "response_item", payload: call },
    { type: "compacted", payload: { replacement_history: [1] } },
  ];
  for (const line of lines) {
    const { path } = await rolloutOf(small);
    await appendFile(path, `${JSON.stringify({ timestamp: "", ...line })}\n`);
    const here = await foldLines(fileLines(path, id));
    expect(here.state.history.length).toBeGreaterThan(10);
    expect(await inSegments(pool, path)).toEqual(here);
  }
});

test("an oversized summary does not hide the line it is in", async () => {
  const { path } = await rolloutOf(small);
  const payload = { message: "long ".repeat(50_000), replacement_history: [summary] };
  await appendFile(path, `${JSON.stringify({ timestamp: "", type: "compacted", payload })}\n`);
  const here = await foldLines(fileLines(path, id));
  expect(here.state.history).toEqual([summary]);
  expect(await inSegments(openPool(), path)).toEqual(here);
});

test("every kind of damage gives the same error from a thread", async () => {
  const pool = openPool();
  for (const text of ["not JSON", '"no object"', "[]", "null"]) {
    const { path } = await rolloutOf(small);
    const line = await damage(path, text);
    await appendCompaction(path);
    const here = await errorOf(foldLines(fileLines(path, id)));
    expect(here).toMatchObject({ name: "CorruptedRolloutError", line });
    expect(await errorOf(inSegments(pool, path))).toStrictEqual(here);
  }
});

test("a line nested to the depth limit is passed on, and a deeper one is refused with the same message", async () => {
  const { path } = await rolloutOf(small);
  await appendCompaction(path);
  await appendFile(path, deepLine(maxLineDepth - 2));
  const { bytes, state } = await inSegments(openPool(), path);
  expect(bytes).toBe((await stat(path)).size);
  expect(state.history.at(-1)).toMatchObject({ content: [] });
  await appendFile(path, deepLine(maxLineDepth));
  const here = await errorOf(foldLines(fileLines(path, id)));
  expect(here).toMatchObject({ name: "CorruptedRolloutError", detail: "nested too deeply" });
  expect(await errorOf(inSegments(openPool(), path))).toStrictEqual(here);
});

test("a rollout whose metadata is not in its first line is read the same way", async () => {
  const { path } = await rolloutOf(small);
  await appendCompaction(path);
  const [first, ...lines] = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, [...lines.slice(0, -1), first, ""].join("\n"));
  const here = await foldLines(fileLines(path, id));
  expect(here.state.meta).toBeDefined();
  expect(await inSegments(openPool(), path)).toEqual(here);
});

test("a missing file is reported as not found by threads too", async () => {
  const { path } = await rolloutOf(small);
  const loading = loadLargeRollout(openPool(), { path: `${path}.missing`, conversationId: id, bytes: small });
  expect(await errorOf(loading)).toBeInstanceOf(ConversationNotFoundError);
});

test("a rollout that no thread can read is read in the main thread", async () => {
  const { directory, path } = await rolloutOf(large);
  await appendCompaction(path);
  const closed = openCpuPool();
  await closed.close();
  const { bytes, skipped, state } = await foldLines(fileLines(path, id));
  const places = { layout: "cody", directory, elsewhere: [], alsoListed: [], codexHome: undefined, home: "" } as const;
  const loaded = await fileStore({
    places,
    outbox: undefined,
    pool: closed,
    redactor: plainRedactor,
    secrets: [],
    maxBlobBytes: 0,
  }).load(id);
  expect(loaded).toMatchObject({ bytes, skipped, state: { turns: state.turns } });
  expect(loaded.state.history).toHaveLength(state.history.length);
});
