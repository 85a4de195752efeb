import { textOf } from "../../../base/is-record.js";
const secondsBelow = 1e11;
const maxTime = 8.64e15;

type Value = Readonly<Record<string, unknown>>;

/**
 * Line formats other than Codex's: a whole turn (`items`), a message in an envelope (`messageType`), or an entry of a
 * tree (`parentId`).
 */
export type LineFormat = "turn" | "message" | "entry";

const entryTypes = new Set<unknown>(["session", "message", "model_change", "session_info", "compaction"]);

/**
 * Detects the format of a line; undefined for Codex's and for other values. Loads no schema library, because lists
 * use it.
 */
export function detectLineFormat(value: Value): LineFormat | undefined {
  if ("payload" in value) return undefined;
  const { type, items, message, messageType, summary } = value;
  if (Array.isArray(items) || (type === "compacted" && typeof summary === "string")) return "turn";
  if (typeof messageType === "string" && typeof message === "object" && message !== null) return "message";
  const isNamed = typeof value["id"] === "string" || (type === "session" && typeof value["version"] === "number");
  return entryTypes.has(type) && isNamed ? "entry" : undefined;
}

/** Converts the time of a line in any format to Codex's ISO form. Numbers too small for milliseconds are seconds. */
export function isoTime(time: unknown): string {
  const ms = typeof time === "number" ? milliseconds(time) : parsedTime(time);
  return new Date(Number.isFinite(ms) && Math.abs(ms) <= maxTime ? ms : 0).toISOString();
}

export function milliseconds(time: number): number {
  return Math.abs(time) < secondsBelow ? time * 1000 : time;
}

/** Returns NaN for anything but a string, because converting other values can throw. */
export function parsedTime(time: unknown): number {
  return typeof time === "string" ? Date.parse(time) : Number.NaN;
}

/**
 * Facts about a conversation in a line of a format other than Codex's. Loads no schema library, because lists use it.
 */
interface LineFacts {
  /** Time of the line in ISO form. */
  readonly createdAt?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly commit?: string | undefined;
}

export function lineFacts(value: Value): LineFacts {
  const form = detectLineFormat(value);
  return form === undefined ? {} : { createdAt: isoTime(value["timestamp"]), ...factsOf(form, value) };
}

function factsOf(form: LineFormat, value: Value): LineFacts {
  if (form === "turn") return named(table(value["metadata"]));
  if (form === "entry") return { ...named(value), model: textOf(value["modelId"]), cwd: textOf(value["cwd"]) };
  const { type, projectPath, gitCommit, ...message } = table(value["message"]);
  if (type !== "session-start") return {};
  return { ...named(message), cwd: textOf(projectPath), commit: textOf(gitCommit) };
}

/** Returns the user's text in a line; undefined when it has no user message. */
export function foreignUserText(value: Value): string | undefined {
  const { items, message } = value;
  if (detectLineFormat(value) === undefined) return undefined;
  const userMessage = (Array.isArray(items) ? items : [message]).map(table).find(({ role }) => role === "user");
  if (userMessage === undefined) return undefined;
  const { content } = userMessage;
  return Array.isArray(content)
    ? content.flatMap((part) => textOf(table(part)["text"]) ?? []).join("\n")
    : (textOf(content) ?? "");
}

function named({ provider, model }: Value): LineFacts {
  return { provider: textOf(provider), model: textOf(model) };
}

function table(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}
