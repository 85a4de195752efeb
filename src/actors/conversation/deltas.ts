import type { Event, EventMsg } from "../../messages/event.js";
import type { EventRuns } from "../runtime/replay.js";

type DeltaMsg = Extract<EventMsg, { type: "agent_message_delta" | "agent_reasoning_delta" | "tool_call_delta" }>;

/** Two deltas of one item in a row are one longer delta to a reader that has not read the first. */
export function mergeDeltas(older: Event, newer: Event): Event | undefined {
  const text = textBehind(older, newer);
  return text === undefined || !isDelta(older.msg) ? undefined : withText(newer, newer.seq, older.msg.delta + text);
}

/** Most events are deltas, and the event around a delta takes ten times its memory. */
export const deltaRuns: EventRuns<Event> = { text: textBehind, event: withText };

/** The text of a delta, if it goes on with the item of another one. */
function textBehind(older: Event, newer: Event): string | undefined {
  const a = older.msg;
  const b = newer.msg;
  if (!isDelta(a) || !isDelta(b) || a.type !== b.type || a.item_id !== b.item_id) return undefined;
  return older.id === newer.id && older.conversation_id === newer.conversation_id ? b.delta : undefined;
}

function withText(event: Event, seq: number, delta: string): Event {
  return isDelta(event.msg) ? { ...event, seq, msg: { ...event.msg, delta } } : event;
}

function isDelta(msg: EventMsg): msg is DeltaMsg {
  return msg.type === "agent_message_delta" || msg.type === "agent_reasoning_delta" || msg.type === "tool_call_delta";
}
