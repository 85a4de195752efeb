import { link, lstat, mkdir, open, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { fileLines, foldLines } from "../../../src/actors/conversation/store/load-rollout.js";
import { maxLineBytes } from "../../../src/rollouts/file/lines.js";
import { nodeRepairFiles, type RepairFiles } from "../../../src/rollouts/file/replacement.js";
import { type RolloutScan, needsRepair, scanRollout } from "../../../src/rollouts/repair/repair-scan.js";
import { repairRollout } from "../../../src/rollouts/repair/repair-write.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const uuid = "01a1e1d9-0000-7000-8000-000000000001";
const conversationId = `conv_${uuid}`;
const timestamp = "2026-11-16T00:00:00.000Z";
const now = new Date("2026-11-16T12:34:56.789Z");
const backupName = `${conversationId}.jsonl.backup-2026-11-16T12-34-56.789Z`;

let folder = "";
let path = "";
beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, `${conversationId}.jsonl`);
});

function line(type: string, payload: object, extra: object = {}): string {
  return JSON.stringify({ timestamp, ...extra, type, payload });
}
const metaPayload = { id: uuid, timestamp, cwd: "/", originator: "cody", cli_version: "1", source: "cli" };
const meta = line("session_meta", metaPayload, { metadata: { provider: "offline", model: "offline", format: 1 } });
const said = (text: string, extra: object = {}): string =>
  line("response_item", { type: "message", role: "user", content: [{ type: "input_text", text }] }, extra);
const numbered = (text: string, ordinal: number): string => said(text, { ordinal });
const answered = (text: string): string =>
  line("response_item", { type: "message", role: "assistant", content: [{ type: "output_text", text }] });

/** Writes the parts to the file, each followed by a newline. */
async function write(...lines: readonly (string | Buffer)[]): Promise<void> {
  await writeRaw(...lines.flatMap((part) => [part, "\n"]));
}

async function writeRaw(...parts: readonly (string | Buffer)[]): Promise<void> {
  await writeFile(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
}

async function scan(): Promise<RolloutScan> {
  return await scanRollout({ path, conversationId });
}

async function repair(files: RepairFiles = nodeRepairFiles) {
  return await repairRollout(files, { path, conversationId, now, uid: process.getuid?.() ?? 0 });
}

async function texts(): Promise<string[]> {
  const { state } = await foldLines(fileLines(path, conversationId));
  return state.history.flatMap((item) =>
    item.type === "message" ? item.content.map((part) => ("text" in part ? part.text : "")) : [],
  );
}

test("a valid rollout needs no repair and is not changed", async () => {
  await write(meta, said("one"), answered("two"), "", said("three"));
  const before = await readFile(path);
  const { ino } = await stat(path);
  const found = await scan();
  expect(found).toEqual({
    lines: 5,
    damaged: { count: 0, rescued: 0, listed: [] },
    unterminated: false,
    firstLine: undefined,
    inPlace: false,
    history: { turns: 2, items: 3 },
    unknown: 0,
    beginning: undefined,
  });
  expect(needsRepair(found)).toBe(false);
  expect(await repair()).toEqual({ scan: found, backup: undefined });
  expect(await readFile(path)).toEqual(before);
  expect((await stat(path)).ino).toBe(ino);
  expect(await readdir(folder)).toEqual([basename(path)]);
});

test.each<[string, string | Buffer, string]>([
  [
    "half a line",
    said("secret").slice(0, -4),
    "not valid JSON: Expected ',' or '}' after property value in JSON at position 152",
  ],
  ["a word", "sk-secret", "not valid JSON: Unexpected token 's'"],
  ["NUL bytes", Buffer.alloc(40), "contains NUL bytes"],
  ["bytes that are no UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), "not valid UTF-8"],
  ["no object", "[1,2]", "not an object with a type"],
  ["no type", '{"timestamp":"2026-11-16T00:00:00.000Z"}', "not an object with a type"],
])("a damaged line (%s) is dropped, and the others stay unchanged", async (_what, bad, reason) => {
  // A valid line in another style: spaces, extra keys, a carriage return.
  const odd = ` ${said("odd").replace("{", '{ "more" : 1,')}\r`;
  await write(meta, said("one"), bad, odd, answered("two"));
  const original = await readFile(path);
  const found = await scan();
  expect(found.damaged).toEqual({
    count: 1,
    rescued: 0,
    listed: [{ number: 3, bytes: Buffer.from(bad).length, reason, rescued: 0 }],
  });
  expect(found.history).toEqual({ turns: 1, items: 3 });
  expect(await readFile(path)).toEqual(original);
  const done = await repair();
  expect(done).toEqual({ scan: found, backup: join(folder, backupName) });
  expect(await readFile(path, "utf8")).toBe([meta, said("one"), odd, answered("two"), ""].join("\n"));
  expect(await readFile(join(folder, backupName))).toEqual(original);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, backupName))).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual([basename(path), backupName]);
  expect(needsRepair(await scan())).toBe(false);
  expect(await texts()).toEqual(["one", "odd", "two"]);
});

test("a torn end is dropped and reported as torn, whatever it contains", async () => {
  await writeRaw(meta, "\n", said("one"), "\n", said("two").slice(0, 50));
  expect((await scan()).damaged.listed).toEqual([
    { number: 3, bytes: 50, reason: expect.stringMatching(/^incomplete: not valid JSON: /), rescued: 0 },
  ]);
  await repair();
  expect(await readFile(path, "utf8")).toBe(`${meta}\n${said("one")}\n`);
});

test("a complete last line gets its missing newline", async () => {
  await writeRaw(meta, "\n", said("one"));
  const found = await scan();
  expect(found).toMatchObject({ unterminated: true, damaged: { count: 0 }, history: { turns: 1, items: 1 } });
  expect(needsRepair(found)).toBe(true);
  await repair();
  expect(await readFile(path, "utf8")).toBe(`${meta}\n${said("one")}\n`);
});

test("complete lines inside a damaged line are recovered", async () => {
  const torn = said("torn").slice(0, 60);
  await write(
    meta,
    torn + said("behind a torn one"),
    Buffer.concat([Buffer.alloc(7), Buffer.from(said("behind NULs")), Buffer.alloc(9)]),
    said("glued") + answered("together"),
    said("before a torn one") + torn,
  );
  const found = await scan();
  expect(found.damaged.rescued).toBe(5);
  expect(found.damaged.listed.map(({ number, rescued }) => [number, rescued])).toEqual([
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 1],
  ]);
  await repair();
  expect(await texts()).toEqual(["behind a torn one", "behind NULs", "glued", "together", "before a torn one"]);
  expect(found.history.items).toBe(5);
  expect(needsRepair(await scan())).toBe(false);
});

test("a text that looks like a line is not recovered as a line", async () => {
  const quoting = said(said("quoted"));
  const nested = line("response_item", { type: "other", inner: JSON.parse(said("nested")) as unknown });
  await write(meta, said("one"), quoting.slice(0, -1), nested.slice(0, -1), `x${nested.slice(0, -2)}`);
  expect((await scan()).damaged).toMatchObject({ count: 3, rescued: 0 });
  await repair();
  expect(await texts()).toEqual(["one"]);
});

test("an oversized line is dropped, and the lines after it are kept", async () => {
  await write(meta, said("one"));
  const file = await open(path, "a");
  const block = Buffer.alloc(1024 * 1024, "a");
  for (let written = 0; written <= maxLineBytes; written += block.length) await file.write(block);
  await file.write(`\n${said("two")}\n`);
  await file.close();
  const bytes = maxLineBytes + block.length;
  expect((await scan()).damaged.listed).toEqual([{ number: 3, bytes, reason: "longer than 256 MiB", rescued: 0 }]);
  await repair();
  expect(await texts()).toEqual(["one", "two"]);
});

test.each<[string, string[]]>([
  ["is missing", []],
  ["is damaged", ["broken"]],
  ["is empty", [line("session_meta", {})]],
])("a first line that %s is rebuilt from the other lines", async (_what, before) => {
  const context = { cwd: "/projects/site", model: "gpt-4o", provider: "openai", approval_policy: "never", summary: 1 };
  await write(
    ...before,
    said("one", { timestamp: "2026-11-15T01:02:03.000Z" }),
    line("turn_context", { ...context, sandbox_policy: { type: "read-only" } }),
  );
  await repair();
  const [first = ""] = (await readFile(path, "utf8")).split("\n");
  const { state } = await foldLines(fileLines(path, conversationId));
  expect(JSON.parse(first)).toMatchObject({
    timestamp: before.length === 1 && before[0] !== "broken" ? timestamp : "2026-11-15T01:02:03.000Z",
    type: "session_meta",
    metadata: { provider: "openai", model: "gpt-4o", format: 1 },
    payload: { id: uuid, cwd: "/projects/site", originator: "cody" },
  });
  expect(state.meta?.id).toBe(uuid);
  expect(await texts()).toEqual(["one"]);
  expect(needsRepair(await scan())).toBe(false);
});

test("a timestamp that is not a string is ignored", async () => {
  await write(said("one", { timestamp: { toString: 1, valueOf: 1 } }), said("two"));
  await repair();
  const [first = ""] = (await readFile(path, "utf8")).split("\n");
  expect(JSON.parse(first)).toMatchObject({ timestamp });
  expect(await texts()).toEqual(["one", "two"]);
});

test("without readable lines the new first line has the file's time and an unknown working directory", async () => {
  await write("broken", "more");
  await utimes(path, new Date(0), new Date("2026-01-02T03:04:05.000Z"));
  expect(await repair()).toMatchObject({ scan: { damaged: { count: 2 }, history: { turns: 0, items: 0 } } });
  const lines = (await readFile(path, "utf8")).split("\n");
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    timestamp: "2026-01-02T03:04:05.000Z",
    metadata: { provider: "unknown", model: "unknown" },
    payload: { id: uuid, cwd: "/" },
  });
});

test("the first line of another conversation is not used as its own", async () => {
  const parent = line("session_meta", { ...metaPayload, id: "01a1e1d9-0000-7000-8000-00000000000f" });
  await write("broken", parent, said("one"));
  await repair();
  expect((await foldLines(fileLines(path, conversationId))).state.meta?.id).toBe(uuid);
  // A renamed file is not damaged.
  await write(parent, said("one"));
  expect(needsRepair(await scan())).toBe(false);
});

test("an empty file is left alone", async () => {
  for (const text of ["", "\n", " \r\n\n"]) {
    await writeRaw(text);
    expect(needsRepair(await scan())).toBe(false);
  }
});

test("a byte order mark stays at the start of the file, and is removed if a new first line is added", async () => {
  const mark = "\ufeff";
  await write(`${mark}${meta}`, "broken", said("one"));
  await repair();
  expect(await readFile(path, "utf8")).toBe(`${mark}${meta}\n${said("one")}\n`);
  await write(`${mark}${said("one")}`, said("two"));
  await repair();
  expect(await texts()).toEqual(["one", "two"]);
  expect(needsRepair(await scan())).toBe(false);
});

test("lines of a newer version are counted and kept", async () => {
  const unknown = [line("of_tomorrow", {}), line("response_item", { type: "of_tomorrow" }), '{"type":"session"}'];
  await write(meta, ...unknown, "broken", said("one"));
  expect(await scan()).toMatchObject({ unknown: 3, damaged: { count: 1 } });
  await repair();
  expect(await readFile(path, "utf8")).toBe([meta, ...unknown, said("one"), ""].join("\n"));
});

test("the history is counted as after a resume, with compactions and rollbacks applied", async () => {
  const replacement = [1, 2].map((text) => (JSON.parse(said(`${text}`)) as { payload: object }).payload);
  await write(
    meta,
    ...[1, 2, 3].flatMap((turn) => [said(`question ${turn}`), answered(`answer ${turn}`)]),
    line("compacted", { message: "summary", replacement_history: replacement }),
    said("after"),
    answered("answer"),
    said("taken back"),
    line("event_msg", { type: "thread_rolled_back", num_turns: 1 }),
  );
  const { history } = await scan();
  expect(history.items).toBe((await texts()).length);
  expect(history).toEqual({ turns: 2, items: 4 });
});

test("of many damaged lines the first are listed, and all are counted and dropped", async () => {
  await write(meta, ...Array.from({ length: 5000 }, () => "x"), said("one"));
  const found = await scan();
  expect(found.damaged.count).toBe(5000);
  expect(found.damaged.listed).toHaveLength(1000);
  await repair();
  expect(await readFile(path, "utf8")).toBe(`${meta}\n${said("one")}\n`);
});

test("an older backup is never overwritten", async () => {
  await write(meta, "first");
  await repair();
  await write(meta, "second");
  expect((await repair()).backup).toBe(join(folder, `${backupName}-2`));
  expect(await readFile(join(folder, backupName), "utf8")).toContain("first");
  expect(await readFile(join(folder, `${backupName}-2`), "utf8")).toContain("second");
});

test("in a rollout that others may refer to by offset, damage becomes blanks and no byte moves", async () => {
  const first = line("session_meta", { ...metaPayload, history_mode: "paginated" }, { ordinal: 0 });
  const hole = Buffer.concat([Buffer.alloc(30), Buffer.from(numbered("behind a hole", 2)), Buffer.alloc(3)]);
  const flipped = `${numbered("glued", 4)}\u000b${numbered("together", 5)}`;
  const tail = numbered("last", 6);
  await write(first, numbered("one", 1), hole, "x".repeat(70_000), flipped, tail);
  const size = (await stat(path)).size;
  expect(await scan()).toMatchObject({ inPlace: true, damaged: { count: 3, rescued: 3 }, history: { items: 5 } });
  await repair();
  const content = await readFile(path);
  expect(content.length).toBe(size);
  expect(content.indexOf(tail)).toBe(size - tail.length - 1);
  expect(await texts()).toEqual(["one", "behind a hole", "glued", "together", "last"]);
  expect(needsRepair(await scan())).toBe(false);
  // A damaged first line is replaced in place.
  await write("y".repeat(2000), numbered("one", 1), tail);
  await repair();
  expect((await readFile(path)).indexOf(numbered("one", 1))).toBe(2001);
  expect((await foldLines(fileLines(path, conversationId))).state.meta?.id).toBe(uuid);
});

test("the history base is counted, and reported if it cannot be read", async () => {
  const parentId = "01a1e1d9-0000-7000-8000-00000000000f";
  const parent = join(folder, `conv_${parentId}.jsonl`);
  const lines = [line("session_meta", { ...metaPayload, id: parentId }), said("before")];
  const base = { thread_id: parentId, end_ordinal_exclusive: 2, end_byte_offset: lines.join("\n").length + 1 };
  const text = lines.map((part) => `${part}\n`).join("");
  await writeFile(parent, text);
  await write(line("session_meta", { ...metaPayload, history_base: base }), "broken", said("one"));
  expect(await scan()).toMatchObject({ history: { turns: 1, items: 2 }, beginning: undefined, damaged: { count: 1 } });
  await writeFile(parent, text.replace('{"timestamp', 'x"timestamp'));
  expect((await scan()).beginning).toBe(
    `its history starts in ${basename(parent)}: line 1: not valid JSON: Unexpected token 'x'`,
  );
  await writeFile(parent, "");
  expect((await scan()).beginning).toContain("which has only 0");
});

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

test.each<[string, Partial<RepairFiles>]>([
  ["the disk is full", { write: failing("ENOSPC") }],
  ["the disk fails to sync", { fsync: failing("EIO") }],
  ["the backup cannot be made", { link: failing("EPERM") }],
  ["the file cannot be replaced", { rename: failing("EIO") }],
])("when %s the rollout is unchanged and no temporary file is left", async (_what, faults) => {
  await write(meta, "broken", said("one"));
  const [before, original] = [await stat(path), await readFile(path)];
  await expect(repair({ ...nodeRepairFiles, ...faults })).rejects.toMatchObject({ code: expect.any(String) });
  expect(await readFile(path)).toEqual(original);
  expect((await stat(path)).ino).toBe(before.ino);
  expect(await readdir(folder)).toEqual([basename(path)]);
  await repair();
  expect(await texts()).toEqual(["one"]);
});

test("a repair fails without losing lines another program writes at the same time", async () => {
  await write(meta, "broken", said("one"));
  const fsync = async (fd: number): Promise<void> => {
    await nodeRepairFiles.fsync(fd);
    await writeFile(path, `${said("meanwhile")}\n`, { flag: "a" });
  };
  await expect(repair({ ...nodeRepairFiles, fsync })).rejects.toThrow("changed by another program");
  expect(await readFile(path, "utf8")).toBe(`${meta}\nbroken\n${said("one")}\n${said("meanwhile")}\n`);
  expect(await readdir(folder)).toEqual([basename(path)]);
});

test("the temporary file of a killed repair is replaced", async () => {
  await write(meta, "broken", said("one"));
  await writeFile(`${path}.repair.tmp`, "left");
  await link(`${path}.repair.tmp`, join(folder, "elsewhere"));
  await repair();
  expect(await readFile(path, "utf8")).toBe(`${meta}\n${said("one")}\n`);
  expect(await readFile(join(folder, "elsewhere"), "utf8")).toBe("left");
});

test("a file of another user is not repaired", async () => {
  await write(meta, "broken");
  const somebodyElse = { path, conversationId, now, uid: (process.getuid?.() ?? 0) + 1 };
  await expect(repairRollout(nodeRepairFiles, somebodyElse)).rejects.toThrow("belongs to another user");
  expect(await readdir(folder)).toEqual([basename(path)]);
});

test("symlinks, folders and missing files are refused", async () => {
  await expect(scan()).rejects.toMatchObject({ code: "CONVERSATION_NOT_FOUND" });
  await mkdir(path);
  await expect(repair()).rejects.toThrow("not a regular file");
  const elsewhere = join(folder, "elsewhere");
  await writeFile(elsewhere, "broken\n");
  path = join(folder, "linked.jsonl");
  await symlink(elsewhere, path);
  await expect(repair()).rejects.toThrow("not a regular file");
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(await readFile(elsewhere, "utf8")).toBe("broken\n");
});
