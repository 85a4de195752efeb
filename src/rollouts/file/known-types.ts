import { EventMsg } from "../../messages/event.js";
import { isRecord } from "../../base/is-record.js";
import { ResponseItem } from "../../messages/response-item.js";
import { CodyPayload } from "../../messages/rollout-line.js";
import { typesOf } from "../../messages/unknown-type.js";
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

/** Whether a line without a known shape is one that nobody misses. */
export function isBesideHistory(line: LineObject): boolean {
  return linesBeside.has(line.type);
}

/** Whether a line is of a known type and what it holds is not: a newer version may have said something with it. */
export function holdsUnknown(line: LineObject): boolean {
  const known = knownPayloads.get(line.type);
  return known !== undefined && isRecord(line["payload"]) && !known.has(line["payload"]["type"]);
}
