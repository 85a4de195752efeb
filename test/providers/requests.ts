import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import type { ResponseItem } from "../../src/messages/response-item.js";

export function user(text: string): ResponseItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

export function assistant(text: string): ResponseItem {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

export function requestOf(input: readonly ResponseItem[], toolNames: readonly string[] = []): ModelRequest {
  const tools = toolNames.map((name) => ({ name, description: name, parameters: {} }));
  return { conversationId: "conversation", model: "offline", instructions: "be brief", input: [...input], tools };
}

export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
