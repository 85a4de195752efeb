import { isRecord } from "../../base/is-record.js";
import { withCodexItems } from "../../messages/codex-parts.js";
import { EventMsg } from "../../messages/event.js";
import { ResponseItem } from "../../messages/response-item.js";
import { RolloutLine, type OwnLine, CodyPayload } from "../../messages/rollout-line.js";
import { typesOf } from "../../messages/unknown-type.js";
import { isoTime } from "../formats/lines/detect.js";
import type { LineObject } from "./line-object.js";

/** Lines of Codex that hold nothing of the history. What agents say to each other is not among them: it is history. */
const linesBeside = new Set([
  "world_state",
  "token_usage_record",
  "security_risk_score",
  "inter_agent_communication_metadata",
]);

/** Events that Codex has ever written down and cody has no use for: they show again what stands in items. */
const eventsBeside = [
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
  ["event_msg", new Set([...typesOf(EventMsg.options), ...eventsBeside])],
  ["cody", new Set(typesOf(CodyPayload.options))],
]);

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

/** Whether a line without a known shape is one that nobody misses. */
function isBesideHistory(line: LineObject): boolean {
  return linesBeside.has(line.type);
}

/** Whether a line is of a known type and what it holds is not: a newer version may have said something with it. */
function holdsUnknown(line: LineObject): boolean {
  const known = knownPayloads.get(line.type);
  return known !== undefined && isRecord(line["payload"]) && !known.has(line["payload"]["type"]);
}
