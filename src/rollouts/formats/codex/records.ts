import type { OwnLine } from "../../../messages/rollout-line.js";
import { checkLine } from "../../file/check-line.js";
import type { LineObject } from "../../file/line-object.js";
import type { Losses } from "../import/losses.js";
import type { SourceRecord } from "../import/source.js";

/**
 * Imports a line of Codex or cody unchanged, except for metadata of the conversation. `time` is used for lines
 * without a timestamp.
 */
export function codexRecords(value: LineObject, losses: Losses, time?: string): SourceRecord[] {
  // Its facts were read before, leniently, because older versions lack fields.
  if (value.type === "session_meta") return [];
  const { line, isUnderstood } = checkLine(value, time);
  if (!isUnderstood) losses.count("unknown_lines");
  if (line === undefined) return [];
  return line.type === "cody" ? ownRecords(line) : [{ type: "line", line }];
}

function ownRecords(line: Extract<OwnLine, { type: "cody" }>): SourceRecord[] {
  const { payload } = line;
  if (payload.type === "named") return [{ type: "named", name: payload.name }];
  return payload.type === "imported" ? [] : [{ type: "line", line }];
}
