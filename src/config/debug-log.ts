import { constants } from "node:fs";
import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../base/fs/make-directory.js";
import { counted } from "../base/text/counted.js";
import { isSecretName } from "./secrets/redact.js";

const maxReadChars = 100_000;

const maxTextChars = 2_000;

const maxLineChars = 16_000;

const levels = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof levels)[number];

interface DebugLogOptions {
  readonly directory: string;
  readonly redact: (text: string) => string;
  /** Lines less important than this level are dropped. */
  readonly level: LogLevel;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Writes in the background and never throws: logging must not make anything else fail. */
export interface DebugLog {
  write(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  close(): Promise<void>;
}

interface Line {
  readonly day: string;
  readonly text: string;
}

const burst = 50;
const linesPerSecond = 10;
const maxWaiting = 1_000;
const maxFileBytes = 32 * 1024 * 1024;
const keptDays = 14;
const dayMs = 24 * 60 * 60 * 1000;
const appending = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW;

export function openDebugLog({ directory, redact, level, now }: DebugLogOptions): DebugLog {
  let waiting: Line[] = [];
  let draining: Promise<void> | undefined;
  /** The day on which old files were last removed. */
  let preparedOn: string | undefined;
  let dropped = 0;
  let allowance = burst;
  let filledAt = now();

  function isAllowed(time: number): boolean {
    allowance = Math.min(burst, allowance + (Math.max(0, time - filledAt) / 1000) * linesPerSecond);
    filledAt = time;
    if (allowance < 1 || waiting.length >= maxWaiting) return false;
    allowance -= 1;
    return true;
  }

  function push(time: number, lineLevel: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void {
    const entry = { time: new Date(time).toISOString(), level: lineLevel, message, ...(fields && { fields }) };
    waiting.push({ day: dayOf(time), text: encodeLogLine(entry, redact) });
    draining ??= drain().finally(() => {
      draining = undefined;
    });
  }

  function logDropped(time: number): void {
    if (dropped > 0) push(time, "warn", `dropped ${counted(dropped, "line")}: too many at once`);
    dropped = 0;
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting;
      waiting = [];
      // A line that cannot be written is lost, because there is no other place to report it.
      await append(lines).catch(() => undefined);
    }
  }

  async function append(lines: readonly Line[]): Promise<void> {
    const today = dayOf(now());
    if (preparedOn !== today) {
      await makeDirectory(directory);
      await removeOld(directory, dayOf(now() - keptDays * dayMs));
      preparedOn = today;
    }
    for (const day of new Set(lines.map((line) => line.day))) {
      const text = lines.flatMap((line) => (line.day === day ? [`${line.text}\n`] : [])).join("");
      const path = join(directory, `cody-${day}.log`);
      await appendBounded(path, text);
    }
  }

  return {
    write: (lineLevel, message, fields) => {
      if (levels.indexOf(lineLevel) > levels.indexOf(level)) return;
      const time = now();
      if (!isAllowed(time)) {
        dropped += 1;
        return;
      }
      logDropped(time);
      push(time, lineLevel, message, fields);
    },
    close: async () => {
      logDropped(now());
      await draining;
    },
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, "YYYY-MM-DD".length);
}

async function appendBounded(path: string, text: string): Promise<void> {
  const file = await open(path, appending, 0o600);
  try {
    const { size } = await file.stat();
    if (size === 0) await file.chmod(0o600);
    if (size < maxFileBytes) await file.appendFile(text);
  } finally {
    await file.close();
  }
}

async function removeOld(directory: string, firstKept: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const day = /^cody-(\d{4}-\d\d-\d\d)\.log$/.exec(name)?.[1];
    if (day !== undefined && day < firstKept) await rm(join(directory, name), { force: true });
  }
}

interface LogEntry {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Encodes an entry as one line of JSON: bounded, without secrets, and with control characters escaped. */
function encodeLogLine(entry: LogEntry, redact: (text: string) => string): string {
  // Redact before truncating: a secret that was cut in half no longer matches its pattern.
  const safe = (text: string): string => redact(text.slice(0, maxReadChars)).slice(0, maxTextChars);
  const message = safe(entry.message);
  const bare = { time: entry.time, level: entry.level, message };
  if (entry.fields === undefined) return JSON.stringify(bare);
  try {
    const line = JSON.stringify({ ...bare, fields: entry.fields }, (key, value: unknown) =>
      safeField(key, value, safe),
    );
    return line.length <= maxLineChars ? line : JSON.stringify({ ...bare, fields: "too long" });
  } catch {
    return JSON.stringify({ ...bare, fields: "not representable" });
  }
}

function safeField(key: string, value: unknown, safe: (text: string) => string): unknown {
  if (isSecretName(key)) return "[redacted]";
  if (typeof value === "string") return safe(value);
  if (typeof value === "bigint") return String(value);
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
}
