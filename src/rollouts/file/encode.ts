import type { TextRedactor } from "../../messages/redaction.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { redactLine } from "../redact-line.js";

/** A line as it stands in a file. */
export interface EncodedLine {
  readonly text: string;
  /** The secrets that are not in it any more. */
  readonly secrets: ReadonlySet<string>;
}

export type LineEncoder = (line: OwnLine) => EncodedLine;

/**
 * One line of a rollout, with its newline. `JSON.stringify` escapes newlines and lone surrogates, so the text is one
 * line and has a UTF-8 form whatever a model or a person wrote.
 */
export function encodeLine(line: OwnLine): string {
  return encoded(line, {});
}

const none: ReadonlySet<string> = new Set();

/** Encodes lines for the disk: without secrets, and with their number beside the payload where there were some. */
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
  // A reader that wants only the metadata must not have to read a long payload first.
  const metadata = "metadata" in line && line.metadata !== undefined ? { metadata: line.metadata } : {};
  return `${JSON.stringify({ timestamp, type, ...metadata, ...notes, payload })}\n`;
}
