import { isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";
import { isRecord, fieldsOf } from "../../../base/is-record.js";
import { systemReason } from "../../../base/system-error.js";
import { ImportError } from "../../../base/errors.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import { withoutMark } from "../../file/lines.js";
import { readClaudeSource } from "../claude/read.js";
import { isClaudeMessage } from "../claude/survey.js";
import { readRolloutSource } from "../codex/read.js";
import { readEntrySource } from "../diligent/read.js";
import { readMessageSource } from "../envoy/read.js";
import { readJsonSource, isJsonHistory } from "../json/read.js";
import { detectLineFormat } from "../lines/detect-format.js";
import { type Fields } from "./parts.js";
import {
  type ImportFormat,
  importFormats,
  sourceFile,
  type ReadSource,
  type Source,
  type SourceFile,
  Losses,
} from "./source.js";

/** Bytes read to detect the format; a first line may contain instructions or an image. */
const headBytes = 1024 * 1024;

const maxLines = 200;

const readers = {
  codex: readRolloutSource,
  turns: readRolloutSource,
  envoy: readMessageSource,
  diligent: readEntrySource,
  json: readJsonSource,
  "claude-code": readClaudeSource,
  pi: readEntrySource,
} satisfies Record<ImportFormat, ReadSource>;

/** Opens a file; rejects with an `ImportError` when it contains no readable conversation. */
export async function openSource(path: string, from?: ImportFormat): Promise<Source> {
  const file = await sourceFile(path);
  try {
    const format = from ?? (await detectFormat(file));
    const losses = new Losses();
    return { file, format, losses, ...(await readers[format](file, losses)) };
  } catch (error) {
    throw isOfDisk(error) ? new ImportError(path, `cannot read it: ${systemReason(error)}`) : error;
  }
}

function isOfDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}

/** Detects the format of a file from its beginning. */
async function detectFormat(file: SourceFile): Promise<ImportFormat> {
  const head = await headOf(file);
  const text = withoutMark(head).toString("utf8");
  const isWhole = head.length >= file.bytes;
  if (!isText(head, isWhole)) throw new ImportError(file.path, "it is not a text file");
  if (text.trim() === "") throw new ImportError(file.path, "it is empty");
  const lines = text.split("\n").slice(0, maxLines).flatMap(lineFields);
  const format = lines.map(formatOf).find((found) => found !== undefined);
  if (format !== undefined) return format === "entries" ? entriesBy(lines) : format;
  if (isWhole ? isJsonHistory(jsonOrUndefined(text)) : /^\s*(?:\[\s*\{|\{\s*")/.test(text)) return "json";
  throw new ImportError(file.path, `unknown format. Known formats: ${importFormats.join(", ")}`);
}

async function headOf({ path, bytes }: SourceFile): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(bytes, headBytes)), 0, undefined, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * Text has no NUL bytes. The cut may split a character, and a single line in another encoding counts only as damage.
 */
function isText(bytes: Buffer, isWhole: boolean): boolean {
  if (bytes.includes(0)) return false;
  const end = bytes.indexOf("\n");
  const first = end === -1 ? bytes : bytes.subarray(0, end);
  return isUtf8(first) || isUtf8(bytes) || (!isWhole && end === -1);
}

function lineFields(line: string): Fields[] {
  const value = jsonOrUndefined(line);
  return isRecord(value) ? [value] : [];
}

function formatOf(value: Fields): ImportFormat | "entries" | undefined {
  if (isRecord(value["payload"]) && typeof value["type"] === "string") return "codex";
  if (isClaude(value)) return "claude-code";
  const form = detectLineFormat(value);
  // A whole conversation may be on one line.
  if (form === "turn") return "timestamp" in value ? "turns" : undefined;
  if (form === "message") return "envoy";
  return form === "entry" || isFirstVersion(value) ? "entries" : undefined;
}

function isClaude(value: Fields): boolean {
  const { type, uuid, parentUuid, sessionId, leafUuid, snapshot } = value;
  if (typeof type !== "string" || "messageType" in value) return false;
  if (typeof uuid === "string" && (parentUuid === null || typeof parentUuid === "string")) return true;
  if (isClaudeMessage(value) && (typeof uuid === "string" || typeof sessionId === "string")) return true;
  if (type === "summary") return typeof leafUuid === "string";
  return type === "file-history-snapshot" ? isRecord(snapshot) : typeof sessionId === "string" && type.includes("-");
}

/** Whether the entry is from pi's first version, in which entries had no ids. */
function isFirstVersion({ type, timestamp, message }: Fields): boolean {
  return type === "message" && typeof timestamp === "string" && isRecord(message);
}

/** Tells pi from Diligent by their different names for the same things; entries with neither are read alike. */
function entriesBy(lines: readonly Fields[]): ImportFormat {
  const isPi = lines.some(({ type, version, message }) => {
    const { role, api, content } = fieldsOf(message);
    if (type === "session" && (version === undefined || (typeof version === "number" && version > 2))) return true;
    if (role === "toolResult" || role === "bashExecution" || typeof api === "string") return true;
    return Array.isArray(content) && content.some((block) => fieldsOf(block)["type"] === "toolCall");
  });
  return isPi ? "pi" : "diligent";
}
