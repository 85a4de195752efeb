import { isGiven, objectOf } from "../json.js";
import type { MockCall, MockItem, MockReply } from "../script.js";
import { encryptedContent } from "../signatures.js";
import { argumentsOf, partsOf } from "../split-deltas.js";
import type { Exchange } from "../wire-api.js";

/** The finished output items of an answer. */
export function outputItems(reply: MockReply, exchange: Exchange) {
  const { text, reasoning } = partsOf(reply);
  const { calls = [], items = [] } = reply;
  // Only the item that was cut off is incomplete.
  const statusOf = (isLast: boolean): Status => (isLast && reply.finish === "length" ? "incomplete" : "completed");
  const thoughts = reasoning !== "" && asksForReasoning(exchange) ? [reasoningItem(reasoning, exchange)] : [];
  const nextId = (prefix: string): string => idAfterReasoning(exchange.ids.next(prefix), thoughts[0]?.id);
  return [
    ...thoughts,
    ...items.map((item) => providerItem(item, nextId, exchange)),
    ...(text !== "" || calls.length + items.length === 0
      ? [messageItem(text, statusOf(calls.length === 0), nextId("msg_"))]
      : []),
    ...calls.map((call, index) => {
      const status = statusOf(index === calls.length - 1);
      return "input" in call
        ? customItem(call, status, nextId("ctc_"), exchange)
        : callItem(call, status, nextId("fc_"), exchange);
    }),
  ];
}

type Status = "completed" | "incomplete";

export type OutputItem = ReturnType<typeof outputItems>[number];

export function outputText(text: string) {
  return { type: "output_text" as const, annotations: [], logprobs: [], text };
}

/** The API summarizes its reasoning only on request. */
function asksForReasoning({ body, unasked }: Exchange): boolean {
  const options = objectOf(body["reasoning"]);
  return unasked || isGiven(options["summary"] ?? options["generate_summary"]);
}

function reasoningItem(text: string, { body, ids, model }: Exchange) {
  const id = ids.next("rs_");
  const include = Array.isArray(body["include"]) ? body["include"] : [];
  const opaque = include.includes("reasoning.encrypted_content")
    ? { encrypted_content: encryptedContent(id, model) }
    : {};
  return { id, type: "reasoning" as const, summary: [{ type: "summary_text" as const, text }], ...opaque };
}

function messageItem(text: string, status: Status, id: string) {
  const content = [outputText(text)];
  return { id, type: "message" as const, status, role: "assistant" as const, content };
}

const idPrefixes = { web_search_call: "ws_", local_shell_call: "lsh_" } as const;

function providerItem({ type, ...item }: MockItem, nextId: (prefix: string) => string, { ids }: Exchange) {
  const called = type === "local_shell_call" ? { call_id: ids.next("call_") } : {};
  return { status: "completed", ...called, ...item, type, id: item.id ?? nextId(idPrefixes[type]) };
}

function callItem(call: MockCall, status: Status, id: string, { ids }: Exchange) {
  return {
    id,
    type: "function_call" as const,
    status,
    arguments: argumentsOf(call),
    call_id: call.id ?? ids.next("call_"),
    name: call.name,
  };
}

function customItem(call: Extract<MockCall, { input: string }>, status: Status, id: string, { ids }: Exchange) {
  return {
    id,
    type: "custom_tool_call" as const,
    status,
    call_id: call.id ?? ids.next("call_"),
    input: call.input,
    name: call.name,
  };
}

// The real API remembers which items a reasoning item led to. The mock encodes this in the ids.
/** The id of an item that follows a reasoning item. */
function idAfterReasoning(id: string, thought: string | undefined): string {
  return thought === undefined ? id : `${id}_${thought}`;
}

/** The id of the reasoning item that led to the item with this id. */
export function reasoningIdIn(id: string): string | undefined {
  return /._(rs_.+)$/.exec(id)?.[1];
}
