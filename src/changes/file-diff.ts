import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { DiffHunk, FileDiff, DiffLine } from "../messages/tools/diff.js";
import { type ChangedFile, type FileVersion, isBinary } from "./changed-file.js";
import { editScript, type Edit, linesIn } from "./edit-script.js";

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

const contextLines = 3;

/** Compares a file line by line. A file that became a link, or the reverse, is deleted and added as a whole. */
export function fileDiff(change: ChangedFile): FileDiff {
  const [first, second] = piecesOf(change).map(pieceDiff);
  if (first === undefined || second === undefined) return first ?? pieceDiff(change);
  const { path, additions } = second;
  const binary = first.binary ?? second.binary;
  const hunks = [...first.hunks, ...second.hunks];
  return { path, status: "modified", additions, deletions: first.deletions, ...(binary && { binary }), hunks };
}

/** Returns the diff as unified text. */
export function fileDiffText(change: ChangedFile): string {
  return piecesOf(change)
    .map((piece) => unifiedDiff(piece, pieceDiff(piece)))
    .join("");
}

/** Git expresses the change between a file and a link only as a deletion followed by a creation. */
function piecesOf(change: ChangedFile): ChangedFile[] {
  const { path, before, after } = change;
  const isSameKind = before === undefined || after === undefined || isLink(before) === isLink(after);
  return isSameKind
    ? [change]
    : [
        { path, before },
        { path, after },
      ];
}

function isLink({ mode }: FileVersion): boolean {
  return mode === "120000";
}

function pieceDiff(change: ChangedFile): FileDiff {
  const { path, before, after } = change;
  const status = before === undefined ? "created" : after === undefined ? "deleted" : "modified";
  if (isBinary(change)) return { path, status, additions: 0, deletions: 0, binary: true, hunks: [] };
  const [old, now] = [linesOf(before?.bytes), linesOf(after?.bytes)];
  const edits = editScript(old, now);
  return {
    path,
    status,
    additions: edits.reduce((sum, { newCount }) => sum + newCount, 0),
    deletions: edits.reduce((sum, { oldCount }) => sum + oldCount, 0),
    hunks: hunksOf(old, now, edits).map(decodedHunk),
  };
}

/** Decodes one character per byte, so that lines are equal exactly when their bytes are. */
function linesOf(bytes: Uint8Array = new Uint8Array()): string[] {
  return linesIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"));
}

function decodedHunk(hunk: DiffHunk): DiffHunk {
  const lines = hunk.lines.map((line) => ({ ...line, text: Buffer.from(line.text, "latin1").toString() }));
  return { ...hunk, lines };
}

/** Builds hunks from edits with context lines; edits whose context would touch share a hunk. */
function hunksOf(old: readonly string[], now: readonly string[], edits: readonly Edit[]): DiffHunk[] {
  return grouped(edits).map((group) => hunkOf(old, now, group));
}

function grouped(edits: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = [];
  for (const edit of edits) {
    const last = groups.at(-1)?.at(-1);
    const isNear = last !== undefined && edit.oldAt - (last.oldAt + last.oldCount) <= 2 * contextLines;
    if (isNear) groups.at(-1)?.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

function hunkOf(old: readonly string[], now: readonly string[], edits: readonly Edit[]): DiffHunk {
  const [first, last] = [edits[0], edits.at(-1)];
  if (first === undefined || last === undefined) throw new Error("a hunk has an edit");
  const before = Math.min(contextLines, first.oldAt);
  const oldEnd = Math.min(last.oldAt + last.oldCount + contextLines, old.length);
  const newEnd = last.newAt + last.newCount + (oldEnd - last.oldAt - last.oldCount);
  const lines: DiffLine[] = [];
  let at = first.oldAt - before;
  for (const { oldAt, oldCount, newAt, newCount } of edits) {
    for (; at < oldAt; at += 1) lines.push(diffLine("context", old[at]));
    for (; at < oldAt + oldCount; at += 1) lines.push(diffLine("deletion", old[at]));
    for (let place = newAt; place < newAt + newCount; place += 1) lines.push(diffLine("addition", now[place]));
  }
  for (; at < oldEnd; at += 1) lines.push(diffLine("context", old[at]));
  const [oldStart, newStart] = [first.oldAt - before, first.newAt - before];
  return {
    ...counted("old", oldStart, oldEnd - oldStart),
    ...counted("new", newStart, newEnd - newStart),
    lines,
  };
}

/** An empty range starts at the line before it, as in unified diffs; lines count from 1. */
function counted<Side extends "old" | "new">(side: Side, at: number, count: number) {
  const start = count === 0 ? at : at + 1;
  return { [`${side}_start`]: start, [`${side}_count`]: count } as Record<`${Side}_start` | `${Side}_count`, number>;
}

function diffLine(type: DiffLine["type"], line = ""): DiffLine {
  return line.endsWith("\n") ? { type, text: line.slice(0, -1) } : { type, text: line, no_newline: true };
}

/** Formats a change for `git apply`, ending with a line break. */
function unifiedDiff(change: ChangedFile, { hunks }: Pick<FileDiff, "hunks">): string {
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
