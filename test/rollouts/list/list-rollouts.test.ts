import { appendFile, mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { InvalidInputError } from "../../../src/base/errors.js";
import { listRollouts } from "../../../src/rollouts/list/list-rollouts.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const meta = line("session_meta", { id: "x", timestamp: "2026-11-16T00:00:00.000Z", cwd: "/" });
const said = line("response_item", message("hello"));
const context = line("response_item", message("<environment_context>x</environment_context>"));

function message(text: string): object {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

function line(type: string, payload: object): string {
  return `${JSON.stringify({ timestamp: "2026-11-16T00:00:00.000Z", type, payload })}\n`;
}

/** A UUID with a creation time the given number of seconds after a fixed time. */
function uuidAt(seconds: number): string {
  const time = (Date.UTC(2026, 0, 1) + seconds * 1000).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7fa0-8c45-6d698618970c`;
}

async function save(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

function inCody(home: string, seconds: number): string {
  return join(home, "conversations", `conv_${uuidAt(seconds)}.jsonl`);
}

test("25 files in pages of 10 give pages of 10, 10 and 5, newest first, each with the head of its file", async () => {
  const home = await temporaryFolder();
  for (let second = 0; second < 25; second += 1) await save(inCody(home, second), meta + said);
  const first = await listRollouts(home, { pageSize: 10 });
  const second = await listRollouts(home, { pageSize: 10, cursor: first.nextCursor ?? "" });
  const third = await listRollouts(home, { pageSize: 10, cursor: second.nextCursor ?? "" });
  expect([first, second, third].map(({ items }) => items.length)).toEqual([10, 10, 5]);
  expect(third.nextCursor).toBeUndefined();
  const expected = Array.from({ length: 25 }, (_, index) => inCody(home, 24 - index));
  expect([first, second, third].flatMap(({ items }) => items.map(({ path }) => path))).toEqual(expected);
  expect(first.items[0]).toEqual({
    id: `conv_${uuidAt(24)}`,
    path: inCody(home, 24),
    head: [JSON.parse(meta), JSON.parse(said)],
  });
  expect((await listRollouts(home)).items).toHaveLength(25);
});

test("while conversations are created, deleted and continued, none is left out or listed twice", async () => {
  const home = await temporaryFolder();
  for (let second = 0; second < 30; second += 1) await save(inCody(home, second), meta + said);
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let round = 0; cursor !== undefined || round === 0; round += 1) {
    const page = await listRollouts(home, { pageSize: 7, ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...page.items.map(({ path }) => path));
    cursor = page.nextCursor;
    // One is created, one continued, one touched by a copy, and a listed one is deleted.
    await save(inCody(home, 100 + round), meta + said);
    await appendFile(inCody(home, round), said);
    await utimes(inCody(home, 10), round, round);
    await rm(seen[0] ?? "", { force: true });
  }
  expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => inCody(home, 29 - index)));
});

test("only rollouts with a first line and a user message are listed", async () => {
  const home = await temporaryFolder();
  const filler = line("event_msg", { type: "agent_message", message: "x" }).repeat(20);
  await save(inCody(home, 9), meta);
  await save(inCody(home, 8), meta + context);
  await save(inCody(home, 7), said);
  await save(inCody(home, 6), "no rollout\n");
  await save(inCody(home, 5), "");
  await symlink(await save(inCody(home, 1), meta + said), inCody(home, 4));
  const far = await save(inCody(home, 0), meta + context + filler + said);
  const event = await save(inCody(home, 2), meta + line("event_msg", { type: "user_message", message: "hi" }));
  const { items } = await listRollouts(home);
  expect(items.map(({ path }) => path)).toEqual([event, inCody(home, 1), far]);
  expect(items.at(-1)?.head).toHaveLength(10);
});

test("a head ends before a line that is too large", async () => {
  const home = await temporaryFolder();
  const large = line("response_item", message("x".repeat(1024 * 1024)));
  await save(inCody(home, 1), meta + large + said);
  expect((await listRollouts(home)).items.map(({ head }) => head.length)).toEqual([1]);
});

test("a Codex home is listed too, with ids without a time, and files without any time come last", async () => {
  const home = await temporaryFolder();
  const random = "0f5a4f0e-0000-4000-8000-000000000000";
  const day = join(home, "sessions", "2025", "12", "31");
  const old = await save(join(day, `rollout-2025-12-31T10-00-00-${random}.jsonl`), meta + said);
  const young = await save(join(day, `rollout-2026-01-01T10-00-00-${uuidAt(86_400)}.jsonl`), meta + said);
  const own = await save(join(home, "conversations", "mine.jsonl"), meta + said);
  const project = await save(join(home, "conversations", "a_project", `${uuidAt(2 * 86_400)}.jsonl`), meta + said);
  const first = await listRollouts(home, { pageSize: 3 });
  expect(first.items.map(({ path }) => path)).toEqual([project, young, old]);
  const last = await listRollouts(home, { pageSize: 3, cursor: first.nextCursor ?? "" });
  expect(last.items.map(({ path }) => path)).toEqual([own]);
});

test("a home without conversations gives one empty page", async () => {
  expect(await listRollouts(join(await temporaryFolder(), "none"))).toEqual({ items: [] });
});

test.each([0, -1, 1.5, 1001])("a page of %s is refused", async (pageSize) => {
  await expect(listRollouts("/none", { pageSize })).rejects.toThrow(InvalidInputError);
});

test.each(["", "what", Buffer.from('["updated",1,"conv_a"]').toString("base64url")])(
  "the cursor '%s' is refused",
  async (cursor) => {
    await expect(listRollouts("/none", { cursor })).rejects.toThrow("cursor: expected the nextCursor");
  },
);
