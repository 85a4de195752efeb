import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nodeRepairFiles } from "../../../src/rollouts/file/replacement.js";
import { findSecretsInFile, scrubFile } from "../../../src/rollouts/repair/scrub.js";
import { redactorOf } from "../../support/redaction.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const secret = "p4ss-w0rd-0123";
const redactor = redactorOf({ secrets: [secret], shapes: true });
const request = { conversationId: "conv_1", redactor, uid: process.getuid?.() ?? 0 };

const clean = [
  '{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"hello"}}',
  '{"timestamp":"t", "type":"from_the_future", "payload":{"n":12345678901234567890}}',
  '{"type":"response_item","payload":{"type":"reasoning","encrypted_content":"p4ss-w0rd-0123"}}',
  "",
  "not JSON at all",
  "\u{feff}",
];
const dirty = [
  `{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"it is ${secret}"}}`,
  `{"id":"x","messageType":"user","message":{"content":"api_key=XYZ"}}`,
  `{"timestamp":"t","type":"event_msg","payload":{"message":"torn ${secret}`,
  `{"timestamp":"t","type":"response_item","payload":{"type":"function_call","call_id":"c","arguments":"{\\"token\\":\\"abcdef123456\\"}"}}\r`,
];

async function scrubbed(content: string | Buffer) {
  const folder = await temporaryFolder();
  const path = join(folder, "conv_1.jsonl");
  await writeFile(path, content);
  const result = await scrubFile(nodeRepairFiles, path, `${path}.scrub.tmp`, request);
  expect(await readdir(folder)).toEqual(["conv_1.jsonl"]);
  return { path, result };
}

test("only lines with secrets change, in any format, damaged or not, and a second run finds nothing", async () => {
  const lines = fc.array(fc.constantFrom(...clean, ...dirty), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(lines, fc.constantFrom("", "\n"), async (before, end) => {
      const { path, result } = await scrubbed(before.join("\n") + end);
      const text = await readFile(path, "utf8");
      const after = text.slice(0, text.length - end.length).split("\n");
      expect(after).toHaveLength(before.length);
      for (const [index, line] of before.entries()) {
        const isRight = dirty.includes(line) ? !/XYZ|abcdef123456/.test(after[index] ?? "") : after[index] === line;
        expect(isRight).toBe(true);
      }
      expect(text.replaceAll(clean[2] ?? "", "")).not.toContain(secret);
      expect(result.hitLines).toBe(before.filter((line) => dirty.includes(line)).length);
      expect((await findSecretsInFile(path, request)).hitLines).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test("a scrubbed line keeps its format and contains the number of removed secrets", async () => {
  const { path, result } = await scrubbed(dirty.join("\n"));
  expect((await readFile(path, "utf8")).split("\n")).toEqual([
    '{"timestamp":"t","type":"event_msg","redacted":1,"payload":{"type":"user_message","message":"it is [redacted]"}}',
    '{"id":"x","messageType":"user","message":{"content":"api_key=[redacted]"}}',
    '{"timestamp":"t","type":"event_msg","payload":{"message":"torn [redacted]',
    '{"timestamp":"t","type":"response_item","redacted":1,"payload":{"type":"function_call","call_id":"c","arguments":"{\\"token\\":\\"[redacted]\\"}"}}\r',
  ]);
  expect(result).toMatchObject({ lines: 4, hitLines: 4, found: { known: 2, named: 2, shaped: 0 } });
});

test("the file keeps its time and becomes private to its user", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "conv_1.jsonl");
  await writeFile(path, `${dirty[0]}\n`, { mode: 0o644 });
  const time = new Date("2026-01-02T03:04:05Z");
  await utimes(path, time, time);
  await scrubFile(nodeRepairFiles, path, `${path}.scrub.tmp`, request);
  const { mtime, mode } = await stat(path);
  expect([mtime, mode & 0o777]).toEqual([time, 0o600]);
});

test("a secret that cannot be removed is reported", async () => {
  expect(await scrubbed(clean[2] ?? "")).toMatchObject({ result: { hitLines: 0, kept: [1] } });
});

test("secrets between invalid UTF-8 bytes are scrubbed without changing those bytes", async () => {
  const { path } = await scrubbed(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(secret), Buffer.from([0x80])]));
  const expected = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("[redacted]"), Buffer.from([0x80])]);
  expect(await readFile(path)).toEqual(expected);
});

test("a file with Codex's numbered lines is not rewritten", async () => {
  const line = `{"timestamp":"t","ordinal":3,"type":"event_msg","payload":{"message":"${secret}"}}`;
  await expect(scrubbed(line)).rejects.toThrow("has lines that other Codex files refer to");
});

test.each(["open", "write", "fsync", "rename"] as const)("when %s fails the file is unchanged", async (call) => {
  const folder = await temporaryFolder();
  const path = join(folder, "conv_1.jsonl");
  await writeFile(path, dirty.join("\n"));
  const broken = {
    ...nodeRepairFiles,
    [call]: () => Promise.reject(Object.assign(new Error("no"), { code: "EIO", syscall: call })),
  };
  await expect(scrubFile(broken, path, `${path}.scrub.tmp`, request)).rejects.toThrow("no");
  expect(await readFile(path, "utf8")).toBe(dirty.join("\n"));
  expect(await readdir(folder)).toEqual(["conv_1.jsonl"]);
});
