import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import type { ResponseItem } from "../../src/messages/response-item.js";

export function user(text: string): ResponseItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

export function assistant(text: string): ResponseItem {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

export function requestOf(input: readonly ResponseItem[], toolNames: readonly string[] = []): ModelRequest {
  const tools = toolNames.map((name) => ({ name, description: name, parameters: { type: "object", properties: {} } }));
  return { conversationId: "conversation", model: "offline", instructions: "be brief", input: [...input], tools };
}

export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

interface StreamEvent {
  readonly type: string;
  readonly itemId?: string;
  readonly delta?: string;
}

/** Merges consecutive deltas of one item, because how a text is split into deltas depends on timing. */
export function joinDeltas(events: readonly StreamEvent[]): StreamEvent[] {
  const joined: StreamEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const isNext = event.delta !== undefined && last?.type === event.type && last.itemId === event.itemId;
    if (isNext) joined[joined.length - 1] = { ...event, delta: `${last.delta}${event.delta}` };
    else joined.push(event);
  }
  return joined;
}
