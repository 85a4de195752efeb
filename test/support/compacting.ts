import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import type { EventMsg } from "../../src/messages/event.js";
import type { ModelRequest } from "../../src/messages/model.js";
import { messageText, type ResponseItem } from "../../src/messages/response-item.js";
import { type EventLog, openConversation } from "./open-conversation.js";
import { calls, type Reply, says, scripted } from "./scripted-provider.js";

const contextWindow = 10_000;

/** An answer whose usage reports this context size. */
export function saysAt(text: string, tokens: number): Reply {
  return says(text).map((event) =>
    event.type === "usage"
      ? { ...event, usage: { ...event.usage, input_tokens: tokens - 5, output_tokens: 5, total_tokens: tokens } }
      : event,
  );
}

/** A tool call whose usage reports this context size. */
export function callsAt(tokens: number, callId: string, path: string): Reply {
  return calls("read_file", callId, { path }).map((event) =>
    event.type === "usage"
      ? { ...event, usage: { ...event.usage, input_tokens: tokens - 5, output_tokens: 5, total_tokens: tokens } }
      : event,
  );
}

export const overflows: Reply = [
  { type: "failed", failure: { code: "context_overflow", message: "too long", retryable: false } },
];
export const breaks: Reply = [
  { type: "failed", failure: { code: "invalid_request", message: "no", retryable: false } },
];

/** A configuration with a small context window. */
export function compactingConfig(compaction: object = {}): NonNullable<ManagerOptions["config"]> {
  return { contextWindow, compaction };
}

/** A conversation with a scripted model and a small context window. */
export async function openCompacting(
  replies: Iterable<Reply>,
  compaction: object = {},
  options: Pick<ManagerOptions, "idleAfter"> = {},
) {
  const provider = scripted(replies);
  return { provider, ...(await openConversation({ ...options, provider, config: compactingConfig(compaction) })) };
}

export function asksForSummary({ input }: ModelRequest): boolean {
  const last = input.at(-1);
  return last?.type === "message" && messageText(last).includes("concise summary");
}

/** The text of each item, or its type if it has none. */
export function texts(items: readonly ResponseItem[]): string[] {
  return items.map((item) => (item.type === "message" ? messageText(item) : item.type));
}

export function messages(events: EventLog): EventMsg[] {
  return events.seen.map(({ msg }) => msg);
}
