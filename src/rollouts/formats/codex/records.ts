import type { OwnLine } from "../../../messages/rollout-line.js";
import { checkLine } from "../../file/check-line.js";
import type { LineObject } from "../../file/line-object.js";
import type { Losses } from "../import/losses.js";
import type { SourceRecord } from "../import/source.js";

/**
 * A line of Codex or of cody: taken over as it is, but for what the conversation says about itself. `time` is for a line
 * that has none.
 */
export function codexRecords(value: LineObject, losses: Losses, time?: string): SourceRecord[] {
  // What it says was read before, and leniently: older ones lack a field or two.
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
