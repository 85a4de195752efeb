import * as fs from "node:fs";
import { isRecord, readLineBytes, withoutMark, type LineBytes, type LineObject } from "./line-object.js";
import { isRealUserMessage } from "./user-message.js";

/** What the start of a rollout tells. */
export interface Head {
  readonly createdAt?: number;
  readonly provider?: string;
  readonly model?: string;
  readonly cwd?: string;
  /** Nobody has said anything yet. */
  readonly empty: boolean;
  /** It could not be read, or what was read is not a rollout. */
  readonly damaged: boolean;
}

const headBytes = 8 * 1024;
/** A first line may hold instructions; beyond this it is not worth reading for a list. */
const maxFirstLineBytes = 1024 * 1024;
const newline = 0x0a;

/** Reads the first few kilobytes, and more only when the first line is longer. Loads no schema library. */
export async function readHead(path: string, size: number): Promise<Head> {
  try {
    return await withFile(path, async (fd) => {
      const bytes = await readFirstLine(fd, size);
      return headOf(withoutMark(bytes), bytes.length >= size);
    });
  } catch {
    return { empty: false, damaged: true };
  }
}

async function readFirstLine(fd: number, size: number): Promise<Buffer> {
  const wanted = Math.min(size, headBytes);
  const bytes = await readStart(fd, wanted);
  if (bytes.includes(newline) || bytes.length === size) return bytes;
  return readStart(fd, Math.min(size, maxFirstLineBytes));
}

function headOf(bytes: Buffer, whole: boolean): Head {
  const lines: LineObject[] = [];
  let damaged = false;
  for (const { content, terminated } of linesIn(bytes)) {
    // What is unterminated is a torn tail, or goes on beyond what was read.
    if (!terminated && !whole) break;
    const read = readLineBytes(content);
    if (read.status === "object") lines.push(read.value);
    else if (read.status === "bad" && terminated) damaged = true;
    // Of a longer file nothing more is wanted, and parsing is most of what a list costs.
    if (!whole && saysModel(read)) break;
  }
  return { ...factsOf(lines), empty: whole && !lines.some(hasUserMessage), damaged };
}

function* linesIn(bytes: Buffer): Generator<{ content: Buffer; terminated: boolean }> {
  let from = 0;
  for (let to = bytes.indexOf(newline); to !== -1; to = bytes.indexOf(newline, from)) {
    yield { content: bytes.subarray(from, to), terminated: true };
    from = to + 1;
  }
  if (from < bytes.length) yield { content: bytes.subarray(from), terminated: false };
}

function saysModel(read: LineBytes): boolean {
  return read.status === "object" && text(record(read.value["metadata"])["model"]) !== undefined;
}

function factsOf(lines: readonly LineObject[]): Omit<Head, "empty" | "damaged"> {
  const meta = lines.find((line) => line.type === "session_meta");
  const context = record(lines.find((line) => line.type === "turn_context")?.["payload"]);
  const metadata = record(meta?.["metadata"]);
  const payload = record(meta?.["payload"]);
  const createdAt = Date.parse(text(payload["timestamp"]) ?? "");
  const provider = text(metadata["provider"]) ?? text(payload["model_provider"]) ?? text(context["provider"]);
  const model = text(metadata["model"]) ?? text(context["model"]);
  const cwd = text(payload["cwd"]);
  return {
    ...(Number.isNaN(createdAt) ? {} : { createdAt }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function hasUserMessage(line: LineObject): boolean {
  const payload = record(line["payload"]);
  const type = text(payload["type"]) ?? "";
  if (line.type === "event_msg") return type === "user_message";
  return line.type === "response_item" && isRealUserMessage({ ...payload, type });
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

async function withFile<T>(path: string, use: (fd: number) => Promise<T>): Promise<T> {
  const fd = await openNoFollow(path);
  try {
    return await use(fd);
  } finally {
    fs.close(fd, () => {});
  }
}

function openNoFollow(path: string): Promise<number> {
  const flags = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;
  return new Promise((resolve, reject) => {
    fs.open(path, flags, (error, fd) => (error === null ? resolve(fd) : reject(error)));
  });
}

/** The first `length` bytes, or fewer when the file has become shorter. */
async function readStart(fd: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const bytesRead = await readAt(fd, buffer, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function readAt(fd: number, buffer: Buffer, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(fd, buffer, offset, buffer.length - offset, offset, (error, bytesRead) =>
      error === null ? resolve(bytesRead) : reject(error),
    );
  });
}
