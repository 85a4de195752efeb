import { isSecretName } from "./secrets/redact.js";

export interface LogEntry {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

const maxReadChars = 100_000;
const maxTextChars = 2_000;
const maxLineChars = 16_000;

/** One line of JSON: bounded, without secrets, and with control characters escaped. */
export function encodeLogLine(entry: LogEntry, redact: (text: string) => string): string {
  // Redacted before it is cut: half a secret has no shape any more.
  const safe = (text: string): string => redact(text.slice(0, maxReadChars)).slice(0, maxTextChars);
  const message = safe(entry.message);
  const bare = { time: entry.time, level: entry.level, message };
  if (entry.fields === undefined) return JSON.stringify(bare);
  try {
    const line = JSON.stringify({ ...bare, fields: entry.fields }, (key, value: unknown) => shown(key, value, safe));
    return line.length <= maxLineChars ? line : JSON.stringify({ ...bare, fields: "too long" });
  } catch {
    return JSON.stringify({ ...bare, fields: "not representable" });
  }
}

function shown(key: string, value: unknown, safe: (text: string) => string): unknown {
  if (isSecretName(key)) return "[redacted]";
  if (typeof value === "string") return safe(value);
  if (typeof value === "bigint") return String(value);
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
}
