import type { OwnLine } from "../messages/rollout-line.js";

/**
 * One line of a rollout, with its newline. `JSON.stringify` escapes newlines and lone surrogates, so the text is one
 * line and has a UTF-8 form whatever a model or a person wrote.
 */
export function encodeLine(line: OwnLine): string {
  const { timestamp, type, payload } = line;
  // A reader that wants only the metadata must not have to read a long payload first.
  const metadata = "metadata" in line && line.metadata !== undefined ? { metadata: line.metadata } : {};
  return `${JSON.stringify({ timestamp, type, ...metadata, payload })}\n`;
}
