import { isRecord } from "../../base/is-record.js";
import type { OwnLine } from "../../messages/rollout-line.js";

type EventPayload = Extract<OwnLine, { type: "event_msg" }>["payload"];

/**
 * Converts a line of a paginated rollout to Codex's older form: without its ordinal, and with the events by which an
 * unpaginated rollout is listed and shown.
 */
export function legacyLines(line: OwnLine): OwnLine[] {
  const { timestamp, type } = line;
  if (type !== "event_msg") return [withoutPage(line)];
  const payload: Readonly<Record<string, unknown>> = line.payload;
  if (payload["type"] === "item_completed") {
    return eventsOf(payload["item"]).map((event) => ({ timestamp, type, payload: event }));
  }
  // This event describes the conversation from which this one was copied.
  return payload["type"] === "thread_settings_applied" ? [] : [withoutPage(line)];
}

function withoutPage(line: OwnLine): OwnLine {
  const copy = { ...line };
  Reflect.deleteProperty(copy, "ordinal");
  Reflect.deleteProperty(copy, "metadata");
  return copy;
}

function eventsOf(item: unknown): EventPayload[] {
  if (!isRecord(item)) return [];
  switch (item["type"]) {
    case "UserMessage":
      return [{ type: "user_message", message: textOf(item["content"]), images: [] }];
    case "AgentMessage":
      return [{ type: "agent_message", message: textOf(item["content"]) }];
    case "Reasoning":
      return texts(item["summary_text"]).map((text) => ({ type: "agent_reasoning", text }));
    case "ContextCompaction":
      return [{ type: "context_compacted" }];
    default:
      return [];
  }
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return texts(content.map((part: unknown) => (isRecord(part) ? part["text"] : undefined))).join("\n");
}

function texts(values: unknown): string[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}
