import { resolve } from "node:path";
import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import * as z from "zod";
import { readAt } from "../base/fs/open-regular.js";
import { counted } from "../base/text/counted.js";
import { unfinishedBytes } from "../base/text/truncate.js";
import { PathArgument, defineTool, readCommand } from "./define-tool.js";
import { failureText, FileProblem } from "./files/file-problem.js";
import { stampOf } from "./files/file-stamps.js";
import { openForModel } from "./files/open-for-model.js";
import type { ToolContext } from "./tool.js";

const chunkBytes = 256 * 1024;

const newline = 0x0a;

const maxExcerptLines = 2_000;

const maxExcerptBytes = 64 * 1024;

/** The bytes at the beginning of a file that decide whether it is text. */
const probeBytes = 8 * 1024;

const byteOrderMark = "\u{feff}";

const ReadFileArguments = z.strictObject({
  path: PathArgument,
  offset: z.int().min(1).optional().describe("The first line to return; the first line of the file is 1"),
  limit: z.int().min(1).max(maxExcerptLines).optional().describe("Maximum number of lines to return"),
});

export const readFile = defineTool({
  name: "read_file",
  description:
    `Returns the text of a file, at most ${maxExcerptLines} lines and ${maxExcerptBytes} bytes at a time; a note at the end ` +
    "says which lines were returned if there are more.",
  parameters: ReadFileArguments,
  readOnly: true,
  readsOutside: false,
  command: (args, scope) => readCommand("read_file", args, scope),
  run: async ({ path, offset = 1, limit = maxExcerptLines }, context) => {
    const absolute = resolve(context.cwd, path);
    try {
      return await readLines(absolute, { offset, limit }, context);
    } catch (error) {
      return { content: `cannot read ${absolute}: ${failureText(error)}`, success: false };
    }
  },
});

async function readLines(path: string, range: ExcerptRange, context: ToolContext): Promise<string> {
  const { file, realPath, stats } = await openForModel(path, context);
  try {
    await context.noteRead?.(realPath);
    const text = await readExcerpt(file, Number(stats.size), range, context.signal);
    context.stamps.set(realPath, stampOf(stats));
    return text;
  } finally {
    await file.close();
  }
}

/** The requested lines; the first of a file is 1. */
interface ExcerptRange {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Reads lines of a text exactly as they are in the file, with notes about what is missing. Rejects for a file that is
 * not text.
 */
async function readExcerpt(
  file: FileHandle,
  size: number,
  { offset, limit }: ExcerptRange,
  signal: AbortSignal,
): Promise<string> {
  if (size === 0) return "[The file is empty.]";
  await refuseBinary(file, size);
  const start = await findLine(file, offset, size, signal);
  const bytes = await readAt(file, start, Math.min(maxExcerptBytes, size - start));
  const cut = cutLines(bytes, Math.min(limit, maxExcerptLines), start + bytes.length >= size);
  if (!isUtf8(cut.bytes)) throw new FileProblem(`it is not UTF-8 text (${counted(size, "byte")})`);
  const text = cut.bytes.toString();
  const hasMark = offset === 1 && text.startsWith(byteOrderMark);
  const notes = [
    ...(hasMark ? ["[The file begins with a byte order mark, not shown here.]"] : []),
    ...rangeNotes(cut, offset, start + cut.bytes.length >= size),
  ];
  return withNotes(hasMark ? text.slice(byteOrderMark.length) : text, notes);
}

async function refuseBinary(file: FileHandle, size: number): Promise<void> {
  const head = await readAt(file, 0, Math.min(probeBytes, size));
  const whole = head.subarray(0, head.length - (size > head.length ? unfinishedBytes(head) : 0));
  if (head.includes(0) || !isUtf8(whole)) throw new FileProblem(`it is a binary file (${counted(size, "byte")})`);
}

function rangeNotes({ lines, isLineCut }: LineCut, offset: number, isAtEnd: boolean): string[] {
  const last = offset + lines - 1;
  const requested = lines === 1 ? `line ${offset}` : `lines ${offset} to ${last}`;
  if (isLineCut)
    return [`[Only the beginning of line ${offset}: it is too long. The next line has offset ${last + 1}.]`];
  if (!isAtEnd) return [`[This is ${requested}. To read more, use offset ${last + 1}.]`];
  return offset === 1 ? [] : [`[This is ${requested}, up to the end of the file.]`];
}

function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  return `${text}${text.endsWith("\n") || text === "" ? "" : "\n"}${notes.join("\n")}`;
}

interface LineCut {
  readonly bytes: Buffer;
  /** The number of lines; the last may have no line break. */
  readonly lines: number;
  /** Whether the only line was too long to be returned whole. */
  readonly isLineCut: boolean;
}

/** Takes the first lines of some bytes; `isAll` if nothing follows them. */
function cutLines(bytes: Buffer, maxLines: number, isAll: boolean): LineCut {
  let end = 0;
  let lines = 0;
  while (lines < maxLines) {
    const at = bytes.indexOf(newline, end);
    if (at === -1) break;
    end = at + 1;
    lines += 1;
  }
  if (lines === maxLines || end === bytes.length) return { bytes: bytes.subarray(0, end), lines, isLineCut: false };
  if (isAll) return { bytes, lines: lines + 1, isLineCut: false };
  if (lines > 0) return { bytes: bytes.subarray(0, end), lines, isLineCut: false };
  return { bytes: bytes.subarray(0, bytes.length - unfinishedBytes(bytes)), lines: 1, isLineCut: true };
}

/**
 * The offset of a line; the first is 1. Rejects if the file has fewer lines. Reads at most `size` bytes, even if the
 * file grows.
 */
async function findLine(file: FileHandle, line: number, size: number, signal: AbortSignal): Promise<number> {
  let current = 1;
  let position = 0;
  let lineStart = 0;
  while (current < line && position < size) {
    if (signal.aborted) throw new FileProblem("interrupted");
    const chunk = await readAt(file, position, Math.min(chunkBytes, size - position));
    if (chunk.length === 0) break;
    for (let at = chunk.indexOf(newline); at !== -1 && current < line; at = chunk.indexOf(newline, at + 1)) {
      current += 1;
      lineStart = position + at + 1;
    }
    position += chunk.length;
  }
  if (current === line && (lineStart < size || line === 1)) return lineStart;
  const lines = lineStart < Math.min(position, size) ? current : current - 1;
  throw new FileProblem(`it has ${lines} ${lines === 1 ? "line" : "lines"}, so line ${line} is past its end`);
}
