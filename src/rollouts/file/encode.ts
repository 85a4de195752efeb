import type { TextRedactor } from "../../base/text/redaction.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { redactLine } from "../redact-line.js";

/** A line as written to a file. */
export interface EncodedLine {
  readonly text: string;
  /** The secrets that were redacted. */
  readonly secrets: ReadonlySet<string>;
}

export type LineEncoder = (line: OwnLine) => EncodedLine;

/**
 * Encodes one line of a rollout, including its newline. `JSON.stringify` escapes newlines and lone surrogates, so the
 * text is always one line of valid UTF-8.
 */
export function encodeLine(line: OwnLine): string {
  return encoded(line, {});
}

const none: ReadonlySet<string> = new Set();

/** Returns an encoder that redacts secrets and records their number beside the payload. */
export function lineEncoder(redactor: TextRedactor): LineEncoder {
  return (line) => {
    const text = encodeLine(line);
    if (!redactor.suspects(text)) return { text, secrets: none };
    const secrets = new Set<string>();
    const redacted = redactLine(line, redactor, (_, value) => secrets.add(value));
    return redacted === line ? { text, secrets } : { text: encoded(redacted, { redacted: secrets.size }), secrets };
  };
}

function encoded(line: OwnLine, notes: { readonly redacted?: number }): string {
  const { timestamp, type, payload } = line;
  // The metadata comes first, so that a reader of the metadata need not read a long payload.
  const metadata = "metadata" in line && line.metadata !== undefined ? { metadata: line.metadata } : {};
  return `${JSON.stringify({ timestamp, type, ...metadata, ...notes, payload })}\n`;
}
