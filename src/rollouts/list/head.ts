import { isRecord, fieldsOf, textOf } from "../../base/is-record.js";
import { readLineBytes, withoutMark, type LineBytes, type LineObject } from "../file/lines.js";
import { lineFacts } from "../formats/lines/detect-format.js";
import { userText, titleOf } from "./user-text.js";

/** Bytes of the file's end that are read first; most turns are shorter. */
const firstTailBytes = 16 * 1024;
/** Upper limit of the search. If the last turn is longer, a list shows the model named at the start of the file. */
const maxTailBytes = 8 * 1024 * 1024;

/** Facts read from the start of a rollout. */
export interface Head {
  readonly createdAt?: number;
  readonly provider?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly gitBranch?: string;
  readonly gitCommit?: string;
  /** First line of the user's first message. */
  readonly title?: string;
  /** Whether the conversation has no user message yet. */
  readonly empty: boolean;
  /** Whether the file is unreadable or not a rollout. */
  readonly damaged: boolean;
}

/** Bytes read first; enough for most files. */
export const headBytes = 8 * 1024;
/** Maximum read when the first bytes contain no model or no user message. */
const contextBytes = 64 * 1024;
/** A first line may contain instructions; a longer one is not worth reading for a list. */
const maxFirstLineBytes = 1024 * 1024;
const newline = 0x0a;
const growth = 8;
/** Occurs in every line with a user message, and in few others. */
const user = Buffer.from('"user');
const userMessage = Buffer.from('"user_message"');
const providerInFirstLine = Buffer.from('"metadata":{"provider"');
const turnContext = Buffer.from('"turn_context"');

const longestBeginning = 4 * 1024;
const longMessage =
  /"role":"user","content":\[\{"type":"input_text","text":"((?:[^"\\]|\\[^u]|\\u[0-9a-f]{4}){1,1000})/i;

export const unreadable: Head = { empty: false, damaged: true };

/** Returns how many bytes to read when the first ones are not sufficient; undefined when they are. */
export function moreBytes(bytes: Buffer, size: number): number | undefined {
  const hasLine = bytes.includes(newline);
  const limit = Math.min(size, hasLine ? contextBytes : maxFirstLineBytes);
  if (bytes.length >= limit || (hasLine && namesModel(bytes) && hasUserMessage(bytes))) return undefined;
  return Math.min(limit, bytes.length * growth);
}

function namesModel(bytes: Buffer): boolean {
  if (bytes.includes(providerInFirstLine)) return true;
  const context = bytes.indexOf(turnContext);
  return context !== -1 && bytes.includes(newline, context);
}

/** Cheap check first: writers add this event to every user message, so only files without it need parsing. */
function hasUserMessage(bytes: Buffer): boolean {
  const event = bytes.indexOf(userMessage);
  return (event !== -1 && bytes.includes(newline, event)) || firstUserText(bytes, false) !== undefined;
}

/**
 * Extracts the head from the first bytes. Parses only until the model is known, because parsing dominates the cost of
 * a list.
 */
export function readHeadBytes(bytes: Buffer, size: number): Head {
  const whole = bytes.length >= size;
  const lines: LineObject[] = [];
  let damaged = false;
  for (const { content, terminated } of linesIn(withoutMark(bytes))) {
    // An unterminated line is a torn tail, or continues beyond the bytes read.
    if (!terminated && !whole) break;
    const read = readLineBytes(content);
    if (read.status === "object") lines.push(read.value);
    else if (read.status === "bad" && terminated) damaged = true;
    if (hasModelName(read)) break;
  }
  const firstText = firstUserText(bytes, whole);
  const title = firstText === undefined ? undefined : titleOf(firstText);
  return {
    ...factsOf(lines),
    ...(title === undefined ? {} : { title }),
    empty: whole && firstText === undefined,
    damaged,
  };
}

function firstUserText(bytes: Buffer, whole: boolean): string | undefined {
  for (const { content, terminated } of linesIn(withoutMark(bytes))) {
    if (!content.includes(user)) continue;
    if (!terminated && !whole) return partialUserText(content);
    const read = readLineBytes(content);
    const found = read.status === "object" ? userText(read.value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the beginning of a message whose line continues beyond the bytes read. */
function partialUserText(content: Buffer): string | undefined {
  const beginning = longMessage.exec(content.toString("utf8", 0, longestBeginning))?.[1];
  if (beginning === undefined) return undefined;
  try {
    const decoded: unknown = JSON.parse(`"${beginning}"`);
    // Text that begins like context is skipped, because its end, which would tell, is missing.
    return typeof decoded === "string" && !/^\s*[<#]/.test(decoded) ? decoded : undefined;
  } catch {
    return undefined;
  }
}

function* linesIn(bytes: Buffer): Generator<{ content: Buffer; terminated: boolean }> {
  let from = 0;
  for (let to = bytes.indexOf(newline); to !== -1; to = bytes.indexOf(newline, from)) {
    yield { content: bytes.subarray(from, to), terminated: true };
    from = to + 1;
  }
  if (from < bytes.length) yield { content: bytes.subarray(from), terminated: false };
}

function hasModelName(read: LineBytes): boolean {
  if (read.status !== "object") return false;
  return read.value.type === "turn_context" || textOf(fieldsOf(read.value["metadata"])["model"]) !== undefined;
}

function factsOf(lines: readonly LineObject[]): Omit<Head, "title" | "empty" | "damaged"> {
  const meta = lines.find((line) => line.type === "session_meta");
  const context = fieldsOf(lines.find((line) => line.type === "turn_context")?.["payload"]);
  const metadata = fieldsOf(meta?.["metadata"]);
  const payload = fieldsOf(meta?.["payload"]);
  const foreign = meta === undefined ? lines.map(lineFacts) : [];
  const foreignFact = (key: "provider" | "model" | "cwd" | "createdAt" | "commit") =>
    foreign.find((facts) => facts[key])?.[key];
  const createdAt = Date.parse(textOf(payload["timestamp"]) ?? foreignFact("createdAt") ?? "");
  const provider =
    textOf(metadata["provider"]) ??
    textOf(payload["model_provider"]) ??
    textOf(context["provider"]) ??
    foreignFact("provider");
  const model = textOf(metadata["model"]) ?? textOf(context["model"]) ?? foreignFact("model");
  const cwd = textOf(payload["cwd"]) ?? foreignFact("cwd");
  const git = fieldsOf(payload["git"]);
  const gitBranch = textOf(git["branch"]);
  const gitCommit = textOf(git["commit_hash"]) ?? foreignFact("commit");
  return {
    ...(Number.isNaN(createdAt) ? {} : { createdAt }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(gitCommit === undefined ? {} : { gitCommit }),
  };
}

export type CurrentModel = Pick<Head, "provider" | "model">;

/** Returns how many bytes of the end to read next, after `looked` bytes had no model; undefined when to stop. */
export function nextTailBytes(size: number, looked = 0): number | undefined {
  if (looked >= Math.min(size, maxTailBytes)) return undefined;
  return Math.min(size, maxTailBytes, looked === 0 ? firstTailBytes : looked * growth);
}

/** Reads the last turn context from the end of a rollout; undefined when it contains no complete one. */
export function currentModelIn(tail: Buffer): CurrentModel | undefined {
  let end = tail.length;
  for (;;) {
    const at = end <= 0 ? -1 : tail.lastIndexOf(turnContext, end - 1);
    if (at === -1) return undefined;
    const start = tail.lastIndexOf(newline, at) + 1;
    const stop = tail.indexOf(newline, at);
    // A line without a newline is still being written; a line without its start does not parse.
    const read = stop === -1 ? undefined : readLineBytes(tail.subarray(start, stop));
    if (read?.status === "object" && read.value.type === "turn_context" && isRecord(read.value["payload"])) {
      const { provider, model } = read.value["payload"];
      if (typeof model === "string") return { ...(typeof provider === "string" ? { provider } : {}), model };
    }
    end = start;
  }
}
