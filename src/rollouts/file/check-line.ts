import { isRecord } from "../../base/is-record.js";
import { EventMsg } from "../../messages/event.js";
import { ResponseItem, withCodexItems } from "../../messages/response-item.js";
import { RolloutLine, type OwnLine, CodyPayload } from "../../messages/rollout-line.js";
import { typesOf } from "../../messages/unknown-type.js";
import { isoTime } from "../formats/lines/detect-format.js";
import type { LineObject } from "./lines.js";

/** Codex line types that do not affect the history. Messages between agents are not listed, because they do. */
const ignoredLineTypes = new Set([
  "world_state",
  "token_usage_record",
  "security_risk_score",
  "inter_agent_communication_metadata",
]);

/** Events written by any version of Codex that cody does not need, because they only repeat items. */
const ignoredEventTypes = [
  "agent_reasoning_raw_content",
  "collab_agent_interaction_end",
  "collab_agent_spawn_end",
  "collab_close_end",
  "collab_resume_end",
  "collab_waiting_end",
  "dynamic_tool_call_request",
  "dynamic_tool_call_response",
  "guardian_assessment",
  "image_generation_end",
  "item_completed",
  "mcp_tool_call_end",
  "patch_apply_end",
  "sub_agent_activity",
  "thread_goal_updated",
  "thread_name_updated",
  "thread_settings_applied",
  "undo_completed",
  "view_image_tool_call",
];

const knownPayloads: ReadonlyMap<string, ReadonlySet<unknown>> = new Map([
  ["response_item", new Set(typesOf(ResponseItem.options[0].options))],
  ["event_msg", new Set([...typesOf(EventMsg.options), ...ignoredEventTypes])],
  ["cody", new Set(typesOf(CodyPayload.options))],
]);

interface CheckedLine {
  /** Absent when the line's type or shape is unknown. */
  readonly line: OwnLine | undefined;
  /** Whether the line can be skipped, or its known part used, without losing information. */
  readonly isUnderstood: boolean;
}

const knownLine = RolloutLine.options[0];

/** Validates a line. A line without a timestamp gets `time`, or 1970 if that is missing too. */
export function checkLine(value: LineObject, time?: string): CheckedLine {
  const dated = typeof value["timestamp"] === "string" ? value : { ...value, timestamp: timeOf(value, time) };
  const isWritten = isKnown(dated);
  const known = isWritten ? dated : withCodexItems(dated);
  if (!isWritten && !isKnown(known)) return { line: undefined, isUnderstood: isIgnorable(value) };
  // Returns the value itself instead of zod's copy, so that keys of newer versions are preserved.
  return { line: known as OwnLine, isUnderstood: !hasUnknownPayload(value) };
}

const isKnown = (line: object): boolean => knownLine.safeParse(line).success;

function timeOf({ timestamp, payload }: LineObject, time: string | undefined): string {
  if (typeof timestamp === "number") return isoTime(timestamp);
  const payloadTimestamp = isRecord(payload) ? payload["timestamp"] : undefined;
  return isoTime(typeof payloadTimestamp === "string" ? payloadTimestamp : time);
}

/** Whether a line of unknown shape can be skipped without losing history. */
function isIgnorable(line: LineObject): boolean {
  return ignoredLineTypes.has(line.type);
}

/** Whether a line of a known type has an unknown payload type, which a newer version may have written. */
function hasUnknownPayload(line: LineObject): boolean {
  const known = knownPayloads.get(line.type);
  return known !== undefined && isRecord(line["payload"]) && !known.has(line["payload"]["type"]);
}
