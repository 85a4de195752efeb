import type { Event, EventMsg } from "../../messages/event.js";
import type { EventRuns } from "../runtime/replay.js";

type DeltaMsg = Extract<EventMsg, { type: "agent_message_delta" | "agent_reasoning_delta" | "tool_call_delta" }>;

/** Merges two consecutive deltas of one item into a longer one, for a reader that has not read the first. */
export function mergeDeltas(older: Event, newer: Event): Event | undefined {
  const text = continuingText(older, newer);
  return text === undefined || !isDelta(older.msg)
    ? undefined
    : withDeltaText(newer, newer.seq, older.msg.delta + text);
}

/** Stores runs of deltas as texts: most events are deltas, and an event takes ten times the memory of its text. */
export const deltaRuns: EventRuns<Event> = { text: continuingText, event: withDeltaText };

/** Returns the text of a delta if it continues the item of another delta. */
function continuingText(older: Event, newer: Event): string | undefined {
  const a = older.msg;
  const b = newer.msg;
  if (!isDelta(a) || !isDelta(b) || a.type !== b.type || a.item_id !== b.item_id) return undefined;
  return older.id === newer.id && older.conversation_id === newer.conversation_id ? b.delta : undefined;
}

function withDeltaText(event: Event, seq: number, delta: string): Event {
  return isDelta(event.msg) ? { ...event, seq, msg: { ...event.msg, delta } } : event;
}

function isDelta(msg: EventMsg): msg is DeltaMsg {
  return msg.type === "agent_message_delta" || msg.type === "agent_reasoning_delta" || msg.type === "tool_call_delta";
}
