import { isRecord } from "../../base/is-record.js";
import { formFacts } from "../formats/lines/form-facts.js";
import { readLineBytes, withoutMark, type LineBytes, type LineObject } from "../file/line-object.js";
import { titleOf } from "./title.js";
import { userText } from "../user-text.js";

/** What the start of a rollout tells. */
export interface Head {
  readonly createdAt?: number;
  readonly provider?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly gitBranch?: string;
  readonly gitCommit?: string;
  /** The first line of what a person said first. */
  readonly title?: string;
  /** Nobody has said anything yet. */
  readonly empty: boolean;
  /** It could not be read, or what was read is not a rollout. */
  readonly damaged: boolean;
}

/** How much of a file is looked at first; for most it is all that is needed. */
export const headBytes = 8 * 1024;
/** How much of it at most when that does not name the model, or has nothing a person said. */
const contextBytes = 64 * 1024;
/** A first line may hold instructions; beyond this it is not worth reading for a list. */
const maxFirstLineBytes = 1024 * 1024;
const newline = 0x0a;
const growth = 8;
/** Stands in every line in which a person says something, and in few others. */
const user = Buffer.from('"user');
const userMessage = Buffer.from('"user_message"');
const saidInFirstLine = Buffer.from('"metadata":{"provider"');
const turnContext = Buffer.from('"turn_context"');

const longestBeginning = 4 * 1024;
const longMessage =
  /"role":"user","content":\[\{"type":"input_text","text":"((?:[^"\\]|\\[^u]|\\u[0-9a-f]{4}){1,1000})/i;

export const unreadable: Head = { empty: false, damaged: true };

/** How much must be read when the first bytes of a file of this size do not tell enough. */
export function moreBytes(bytes: Buffer, size: number): number | undefined {
  const hasLine = bytes.includes(newline);
  const limit = Math.min(size, hasLine ? contextBytes : maxFirstLineBytes);
  if (bytes.length >= limit || (hasLine && namesModel(bytes) && isSaid(bytes))) return undefined;
  return Math.min(limit, bytes.length * growth);
}

function namesModel(bytes: Buffer): boolean {
  if (bytes.includes(saidInFirstLine)) return true;
  const context = bytes.indexOf(turnContext);
  return context !== -1 && bytes.includes(newline, context);
}

/** Who writes rollouts writes this event with every user message; only files without it are looked at closely. */
function isSaid(bytes: Buffer): boolean {
  const event = bytes.indexOf(userMessage);
  return (event !== -1 && bytes.includes(newline, event)) || firstSaid(bytes, false) !== undefined;
}

/** What the first bytes tell. They are parsed only until the model is known: parsing is most of what a list costs. */
export function headOf(bytes: Buffer, size: number): Head {
  const whole = bytes.length >= size;
  const lines: LineObject[] = [];
  let damaged = false;
  for (const { content, terminated } of linesIn(withoutMark(bytes))) {
    // What is unterminated is a torn tail, or goes on beyond what was read.
    if (!terminated && !whole) break;
    const read = readLineBytes(content);
    if (read.status === "object") lines.push(read.value);
    else if (read.status === "bad" && terminated) damaged = true;
    if (saysModel(read)) break;
  }
  const said = firstSaid(bytes, whole);
  const title = said === undefined ? undefined : titleOf(said);
  return {
    ...factsOf(lines),
    ...(title === undefined ? {} : { title }),
    empty: whole && said === undefined,
    damaged,
  };
}

function firstSaid(bytes: Buffer, whole: boolean): string | undefined {
  for (const { content, terminated } of linesIn(withoutMark(bytes))) {
    if (!content.includes(user)) continue;
    if (!terminated && !whole) return beginningSaid(content);
    const read = readLineBytes(content);
    const said = read.status === "object" ? userText(read.value) : undefined;
    if (said !== undefined) return said;
  }
  return undefined;
}

/** The beginning of a message whose line goes on beyond what was read. */
function beginningSaid(content: Buffer): string | undefined {
  const begun = longMessage.exec(content.toString("utf8", 0, longestBeginning))?.[1];
  if (begun === undefined) return undefined;
  try {
    const said: unknown = JSON.parse(`"${begun}"`);
    // What begins like context may be it: its end is not there to tell.
    return typeof said === "string" && !/^\s*[<#]/.test(said) ? said : undefined;
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

function saysModel(read: LineBytes): boolean {
  if (read.status !== "object") return false;
  return read.value.type === "turn_context" || text(record(read.value["metadata"])["model"]) !== undefined;
}

function factsOf(lines: readonly LineObject[]): Omit<Head, "title" | "empty" | "damaged"> {
  const meta = lines.find((line) => line.type === "session_meta");
  const context = record(lines.find((line) => line.type === "turn_context")?.["payload"]);
  const metadata = record(meta?.["metadata"]);
  const payload = record(meta?.["payload"]);
  const foreign = meta === undefined ? lines.map(formFacts) : [];
  const said = (key: "provider" | "model" | "cwd" | "createdAt" | "commit") =>
    foreign.find((facts) => facts[key])?.[key];
  const createdAt = Date.parse(text(payload["timestamp"]) ?? said("createdAt") ?? "");
  const provider =
    text(metadata["provider"]) ?? text(payload["model_provider"]) ?? text(context["provider"]) ?? said("provider");
  const model = text(metadata["model"]) ?? text(context["model"]) ?? said("model");
  const cwd = text(payload["cwd"]) ?? said("cwd");
  const git = record(payload["git"]);
  const gitBranch = text(git["branch"]);
  const gitCommit = text(git["commit_hash"]) ?? said("commit");
  return {
    ...(Number.isNaN(createdAt) ? {} : { createdAt }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(gitCommit === undefined ? {} : { gitCommit }),
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
