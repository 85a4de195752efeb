import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { DiffHunk, DiffLine, FileDiff } from "../messages/tools/diff.js";
import type { ChangedFile, FileVersion } from "./changed-file.js";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

const lineBytes = 52;

const groupBytes = 4;

const groupChars = 5;

const named: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  34: '\\"',
  92: "\\\\",
};

const nothing = "/dev/null";
const noFile = "0".repeat(40);
const shortHash = 7;
const signs = { context: " ", addition: "+", deletion: "-" } satisfies Record<DiffLine["type"], string>;

/** Formats a change for `git apply`, ending with a line break. */
export function unifiedDiff(change: ChangedFile, { hunks }: Pick<FileDiff, "hunks">): string {
  const { path, before, after } = change;
  const lines = [`diff --git ${gitName(`a/${path}`)} ${gitName(`b/${path}`)}`, ...modeLines(change)];
  const [old, now] = [before?.bytes ?? new Uint8Array(), after?.bytes ?? new Uint8Array()];
  if (Buffer.compare(old, now) === 0 && before !== undefined && after !== undefined) return `${lines.join("\n")}\n`;
  // Bytes that are not valid UTF-8 would not survive in a string, so such files become a binary patch.
  const isText = isUtf8(old) && isUtf8(now) && (hunks.length > 0 || old.length + now.length === 0);
  const hashes = [before, after].map((version) => (version === undefined ? noFile : blobName(version)));
  lines.push(`index ${hashes.map((hash) => (isText ? hash.slice(0, shortHash) : hash)).join("..")}${modeOf(change)}`);
  if (!isText) return `${lines.join("\n")}\n${binaryPatch(old, now)}`;
  if (hunks.length > 0) lines.push(...fileLines(change), ...hunks.map(hunkText));
  return `${lines.join("\n")}\n`;
}

function modeLines({ before, after }: ChangedFile): string[] {
  if (before === undefined) return after === undefined ? [] : [`new file mode ${after.mode}`];
  if (after === undefined) return [`deleted file mode ${before.mode}`];
  return before.mode === after.mode ? [] : [`old mode ${before.mode}`, `new mode ${after.mode}`];
}

function modeOf({ before, after }: ChangedFile): string {
  return before !== undefined && before.mode === after?.mode ? ` ${before.mode}` : "";
}

/** Ends a name that contains a space with a tab, because other tools expect a timestamp after it. */
function fileLines({ path, before, after }: ChangedFile): string[] {
  const end = path.includes(" ") ? "\t" : "";
  return [
    `--- ${before === undefined ? nothing : gitName(`a/${path}`) + end}`,
    `+++ ${after === undefined ? nothing : gitName(`b/${path}`) + end}`,
  ];
}

function hunkText({ old_start, old_count, new_start, new_count, lines }: DiffHunk): string {
  const head = `@@ -${rangeText(old_start, old_count)} +${rangeText(new_start, new_count)} @@`;
  return [head, ...lines.map(lineText)].join("\n");
}

function rangeText(start: number, count: number): string {
  return count === 1 ? String(start) : `${start},${count}`;
}

function lineText({ type, text, no_newline }: DiffLine): string {
  return `${signs[type]}${text}${no_newline === true ? "\n\\ No newline at end of file" : ""}`;
}

/** Returns git's object id of the content. */
function blobName({ bytes }: FileVersion): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** Quotes a name as git does: byte by byte, if it contains non-ASCII characters, quotes or backslashes. */
function gitName(name: string): string {
  const parts = Array.from(Buffer.from(name), quotedByte);
  const text = parts.join("");
  return parts.some((part) => part.length > 1) ? `"${text}"` : text;
}

function quotedByte(byte: number): string {
  const isPlain = byte >= 0x20 && byte < 0x7f;
  return named[byte] ?? (isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`);
}

/** Contains both contents in full, the new one first, so that the patch can be applied and reverted. */
function binaryPatch(before: Uint8Array, after: Uint8Array): string {
  return `GIT binary patch\n${literal(after)}\n${literal(before)}\n`;
}

function literal(bytes: Uint8Array): string {
  const packed = deflateSync(bytes);
  const lines: string[] = [];
  for (let at = 0; at < packed.length; at += lineBytes) lines.push(encodedLine(packed.subarray(at, at + lineBytes)));
  return `literal ${bytes.length}\n${lines.join("")}`;
}

/** Encodes the byte count as a letter, followed by five characters for every four bytes. */
function encodedLine(bytes: Buffer): string {
  const padded = Buffer.alloc(Math.ceil(bytes.length / groupBytes) * groupBytes);
  bytes.copy(padded);
  let text = lengthLetter(bytes.length);
  for (let at = 0; at < padded.length; at += groupBytes) text += encodedGroup(padded.readUInt32BE(at));
  return `${text}\n`;
}

function encodedGroup(value: number): string {
  let [rest, text] = [value, ""];
  for (let count = 0; count < groupChars; count += 1) {
    text = alphabet.charAt(rest % alphabet.length) + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}

function lengthLetter(length: number): string {
  return length <= 26 ? String.fromCharCode(64 + length) : String.fromCharCode(96 + length - 26);
}
