import { withCodexItems } from "../../messages/codex-parts.js";
import { isRecord } from "../../base/is-record.js";
import { RolloutLine, type OwnLine } from "../../messages/rollout-line.js";
import { isoTime } from "../formats/lines/detect.js";
import { holdsUnknown, isBesideHistory } from "./known-types.js";
import type { LineObject } from "./line-object.js";

export interface CheckedLine {
  /** Absent when its type or its shape is not known. */
  readonly line: OwnLine | undefined;
  /** Whether nothing is missed when it is passed over, or when what we know of it is taken for all. */
  readonly isUnderstood: boolean;
}

const knownLine = RolloutLine.options[0];

/** A line without a time is taken with `time`; without that, as one of 1970. */
export function checkLine(value: LineObject, time?: string): CheckedLine {
  const dated = typeof value["timestamp"] === "string" ? value : { ...value, timestamp: timeOf(value, time) };
  const isWritten = isKnown(dated);
  const known = isWritten ? dated : withCodexItems(dated);
  if (!isWritten && !isKnown(known)) return { line: undefined, isUnderstood: isBesideHistory(value) };
  // The value itself, not zod's copy: keys of a newer version stay.
  return { line: known as OwnLine, isUnderstood: !holdsUnknown(value) };
}

const isKnown = (line: object): boolean => knownLine.safeParse(line).success;

function timeOf({ timestamp, payload }: LineObject, time: string | undefined): string {
  if (typeof timestamp === "number") return isoTime(timestamp);
  const said = isRecord(payload) ? payload["timestamp"] : undefined;
  return isoTime(typeof said === "string" ? said : time);
}
