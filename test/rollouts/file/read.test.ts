import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConversationNotFoundError, CorruptedRolloutError, InvalidInputError } from "../../../src/base/errors.js";
import type { Compacted, OwnLine } from "../../../src/messages/rollout-line.js";
import { encodeLine } from "../../../src/rollouts/file/encode.js";
import { maxLineBytes, maxLineDepth } from "../../../src/rollouts/file/lines.js";
import { readRollout } from "../../../src/rollouts/file/read.js";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cody-read-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const timestamp = "2026-11-16T00:00:00.000Z";

function said(text: string): OwnLine {
  const payload = { type: "message", role: "user", content: [{ type: "input_text", text }] } as const;
  return { timestamp, type: "response_item", payload: { ...payload, content: [...payload.content] } };
}

function deep(levels: number): object {
  return JSON.parse(`${'{"in":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`) as object;
}

function deepLine(levels: number): string {
  return `${JSON.stringify({ timestamp, type: "of_tomorrow", payload: deep(levels - 1) })}\n`;
}

function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

async function drain(path: string): Promise<number> {
  let count = 0;
  for await (const { number } of readRollout(path, "conv")) count = number;
  return count;
}

async function read(content: string | Buffer) {
  const path = join(directory, "conv.jsonl");
  writeFileSync(path, content);
  const reading = readRollout(path, "conv");
  const lines: OwnLine[] = [];
  const numbers: number[] = [];
  for await (const { number, line } of reading) {
    numbers.push(number);
    lines.push(line);
  }
  return { lines, numbers, end: reading.end };
}

test("encoded lines are read back, whatever their text", async () => {
  const texts = ["", "two\nlines\r\n", "\u2028\u2029\0", "\ud800 lone", "\u{1f600}", '"}{[', "x".repeat(300_000)];
  const content = texts.map((text) => encodeLine(said(text))).join("");
  expect(content.split("\n")).toHaveLength(texts.length + 1);
  const { lines, end } = await read(content);
  expect(lines).toEqual(texts.map(said));
  expect(end).toEqual({ bytes: Buffer.byteLength(content), torn: 0, skipped: 0 });
});

test("the metadata of a line comes before its payload", () => {
  const line: OwnLine = {
    payload: { id: "1", timestamp, cwd: "/", originator: "cody", cli_version: "1", source: "cli" },
    metadata: { provider: "offline", model: "m", format: 1 },
    type: "session_meta",
    timestamp,
  };
  expect(Object.keys(JSON.parse(encodeLine(line)) as object)).toEqual(["timestamp", "type", "metadata", "payload"]);
});

test("a byte order mark, CRLF and blank lines are accepted, and lines keep their numbers", async () => {
  const one = encodeLine(said("one")).trimEnd();
  const { lines, numbers, end } = await read(`\ufeff${one}\r\n\r\n  \n${one}\r\n`);
  expect(lines).toEqual([said("one"), said("one")]);
  expect(numbers).toEqual([1, 4]);
  expect(end.torn).toBe(0);
});

test("a file cut at any byte of its last line returns every complete line and the number of torn bytes", async () => {
  const first = encodeLine(said("first €"));
  const last = encodeLine(said("last €"));
  const bytes = Buffer.from(first + last);
  const firstBytes = Buffer.byteLength(first);
  for (let length = firstBytes; length <= bytes.length; length += 1) {
    const { lines, end } = await read(bytes.subarray(0, length));
    // Without its newline the line is still complete.
    const whole = length >= bytes.length - 1;
    expect(lines).toEqual(whole ? [said("first €"), said("last €")] : [said("first €")]);
    expect(end).toEqual({ bytes: whole ? length : firstBytes, torn: whole ? 0 : length - firstBytes, skipped: 0 });
  }
});

test("NUL bytes at the end count as torn, NUL bytes in the middle are damage", async () => {
  const line = encodeLine(said("one"));
  expect((await read(Buffer.from(`${line}\0\0\0\0`))).end.torn).toBe(4);
  expect((await read(Buffer.from(`${line}{"type"\0\0`))).end.torn).toBe(9);
  await expect(read(`${line}\0\0\0\n${line}`)).rejects.toThrow("Conversation conv: line 2: not valid JSON");
});

test.each([
  ["text", "invalid json", "not valid JSON: Unexpected token 'i'"],
  ["a secret", "sk-secret-123", "not valid JSON: Unexpected token 's'"],
  ["a property without quotes", "{broken", "not valid JSON: Expected property name or '}' in JSON at position 1"],
  ["an array", "[1]", "not an object with a type"],
  ["null", "null", "not an object with a type"],
  ["no type", '{"payload":{}}', "not an object with a type"],
  ["a type that is no text", '{"type":7}', "not an object with a type"],
  ["half a line", '{"type":"response_item","pay', "not valid JSON: Unterminated string in JSON at position 28"],
  [
    "two lines glued",
    '{"type":"a"}{"type":"b"}',
    "not valid JSON: Unexpected non-whitespace character after JSON at position 12",
  ],
  ["a control character", "\u001b[2J", "not valid JSON: Unexpected token '\\033'"],
  ["a list in a list, and so on", `{"type":"a","list":${"[".repeat(9_000)}${"]".repeat(9_000)}}`, "nested too deeply"],
])("damage before the last line is refused with the line number: %s", async (_name, bad, detail) => {
  const line = encodeLine(said("one"));
  const failure = await read(`${line}\n${bad}\n${line}`).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CorruptedRolloutError);
  expect(failure).toMatchObject({ line: 3, message: `Conversation conv: line 3: ${detail}` });
});

test("nesting up to the limit is accepted, and a little deeper in lines that replace the history", async () => {
  expect((await read(deepLine(maxLineDepth))).end.skipped).toBe(1);
  await expect(read(deepLine(maxLineDepth + 1))).rejects.toThrow("line 1: nested too deeply");
  const item = { type: "of_tomorrow", ...deep(maxLineDepth - 1) };
  const [kept] = (await read(JSON.stringify({ timestamp, type: "response_item", payload: item }))).lines;
  expect(kept?.payload).toEqual(item);
  const replaced = { message: "", replacement_history: [item] } as Compacted;
  expect((await read(encodeLine({ timestamp, type: "compacted", payload: replaced }))).lines).toHaveLength(1);
});

test("invalid UTF-8 is damage", async () => {
  await expect(read(Buffer.from([0x7b, 0xff, 0x7d, 0x0a, 0x7b]))).rejects.toThrow("line 1: not valid UTF-8");
});

test("lines of an unknown type or shape are skipped and counted", async () => {
  const line = encodeLine(said("one"));
  const unknown = '{"timestamp":"t","type":"of_tomorrow","payload":{}}\n';
  const shape = '{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":"x"}}\n';
  const { lines, numbers, end } = await read(unknown + line + shape + line);
  expect(lines).toHaveLength(2);
  expect(numbers).toEqual([2, 4]);
  expect(end).toMatchObject({ skipped: 2, torn: 0 });
});

test.each([
  ["", "1970-01-01T00:00:00.000Z"],
  ['"timestamp":null,', "1970-01-01T00:00:00.000Z"],
  ['"timestamp":1763467200,', "2025-11-18T12:00:00.000Z"],
])("a line without a Codex timestamp is read: %s", async (time, expected) => {
  const payload = { type: "message", role: "user", content: [] };
  const { lines, end } = await read(`{${time}"type":"response_item","payload":${JSON.stringify(payload)}}\n`);
  expect(lines).toEqual([{ timestamp: expected, type: "response_item", payload }]);
  expect(end).toMatchObject({ skipped: 0 });
});

test.each([
  ["response_item", { type: "hologram" }],
  ["event_msg", { type: "thread_rolled_forward", num_turns: 1 }],
  ["cody", { type: "of_tomorrow" }],
])("a %s of an unknown type is kept for copies of the file, and counted", async (type, payload) => {
  const line = { timestamp, type, payload };
  const { lines, end } = await read(`${JSON.stringify(line)}\n`);
  expect(lines).toEqual([line]);
  expect(end.skipped).toBe(1);
});

test.each([
  ["world_state", { full: true, state: {} }],
  ["token_usage_record", {}],
  ["security_risk_score", {}],
  ["inter_agent_communication_metadata", { trigger_turn: false }],
  ["event_msg", { type: "item_completed", thread_id: "1", turn_id: "1", item: { type: "UserMessage" } }],
  ["event_msg", { type: "thread_settings_applied", thread_id: "1", thread_settings: {} }],
  ["event_msg", { type: "mcp_tool_call_end", call_id: "1" }],
  ["event_msg", { type: "exec_command_end", call_id: "1" }],
])("known Codex lines outside the history are not counted as skipped: %s %j", async (type, payload) => {
  const { end } = await read(`${JSON.stringify({ timestamp, type, payload })}\n`);
  expect(end.skipped).toBe(0);
});

test("messages of other agents cannot be read, and are counted as skipped", async () => {
  const payload = { author: "/root/a", recipient: "/root", content: "done", trigger_turn: false };
  const { end } = await read(`${JSON.stringify({ timestamp, type: "inter_agent_communication", payload })}\n`);
  expect(end.skipped).toBe(1);
});

test("unknown keys stay in the line", async () => {
  const text =
    '{"timestamp":"t","ordinal":4,"type":"response_item","payload":{"type":"message","role":"user","content":[],"x":1}}';
  const { lines } = await read(`${text}\n`);
  expect(lines).toEqual([JSON.parse(text)]);
});

test("a line over the size limit is damage and is not kept in memory", async () => {
  const path = join(directory, "conv.jsonl");
  writeFileSync(path, encodeLine(said("one")));
  execFileSync("truncate", ["-s", String(maxLineBytes + 1024 * 1024), path]);
  await expect(drain(path)).rejects.toThrow("line 2: the line is too long");
});

test("a missing file is reported as not found", async () => {
  await expect(drain(join(directory, "none.jsonl"))).rejects.toThrow(ConversationNotFoundError);
  await expect(drain(join(directory, "none.jsonl"))).rejects.toThrow("Conversation conv not found. Run: cody list");
  writeFileSync(join(directory, "file"), "");
  await expect(drain(join(directory, "file", "conv.jsonl"))).rejects.toThrow(ConversationNotFoundError);
});

test("anything but a regular file is refused without blocking", async () => {
  const target = join(directory, "target.jsonl");
  writeFileSync(target, encodeLine(said("secret")));
  symlinkSync(target, join(directory, "link.jsonl"));
  mkdirSync(join(directory, "directory.jsonl"));
  execFileSync("mkfifo", [join(directory, "pipe.jsonl")]);
  for (const path of ["link.jsonl", "directory.jsonl", "pipe.jsonl"]
    .map((name) => join(directory, name))
    .concat("/dev/zero")) {
    const failure = await drain(path).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toMatchObject({ message: "Conversation conv: its rollout is not a regular file" });
  }
});

test("the file is closed if the reader stops early or finds damage", async () => {
  const path = join(directory, "conv.jsonl");
  writeFileSync(path, `${encodeLine(said("one")).repeat(1000)}broken\nmore\n`);
  const before = openFiles();
  for (let round = 0; round < 50; round += 1) {
    for await (const { number } of readRollout(path, "conv")) if (number === 3) break;
    await expect(drain(path)).rejects.toThrow("line 1001");
  }
  expect(openFiles()).toBeLessThan(before + 10);
});
