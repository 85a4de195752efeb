import type { IncomingHttpHeaders } from "node:http";
import { isRecord } from "../../base/is-record.js";
import type { ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { namedEvent, type Answer, AnswerBuilder } from "../answer.js";
import { argumentsOf, argumentPieces, partsOf } from "../split-deltas.js";
import { objectOf, stringOf, isGiven, objectsOf, type JsonObject, roleOf, messageItem, textIn } from "../json.js";
import type { Problem } from "../problem.js";
import type { MockReply, MockCall } from "../script.js";
import { redactedData, signatureOf } from "../signatures.js";
import type { MockApi, Refusal, Exchange, Continuation } from "../wire-api.js";
import {
  anthropicError,
  anthropicKeyIn,
  anthropicMessageFor,
  anthropicRefusal,
  invalidMessages,
  wrongAnthropicKey,
} from "./errors.js";
import { toolUseIdAfter, blocksOf } from "./turns.js";
import { headerRefusal, ruleRefusal } from "./rules.js";
import { shapeProblem } from "./shape.js";

const ping = 'event: ping\ndata: {"type": "ping"}\n\n';

/** A thread (a beta feature): messages, system prompt and tools are stored by the server. */
const continuation: Continuation = {
  anchorIn: ({ thread }) => {
    const { type, previous_message_id: id } = objectOf(thread);
    return type === "continue" && typeof id === "string" ? id : undefined;
  },
  lost: (id) => ({
    status: 404,
    message: `thread: no thread found for previous_message_id ${id}`,
    details: { error_code: "thread_not_found" },
  }),
  joined: (kept, body) => ({
    ...kept,
    ...body,
    messages: [...objectsOf(kept["messages"]), ...objectsOf(body["messages"])],
  }),
  isKept: ({ thread }) => isGiven(thread),
  answered: ({ system, tools, messages }, content) => ({
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    messages: [...objectsOf(messages), ...(content.length === 0 ? [] : [{ role: "assistant", content }])],
  }),
};

/** Anthropic's Messages API. */
export const messagesApi: MockApi = {
  name: "messages",
  refusal: (body, headers, whole = body) => {
    const { thread: _, ...unthreaded } = body;
    const problem = shapeProblem(takesThreads(headers) ? unthreaded : body);
    if (!isWellFormed(body)) return unreadable("no low surrogate in string");
    return headerRefusal(headers) ?? (problem === undefined ? ruleRefusal(whole) : shapeRefusal(problem));
  },
  continuation,
  keyIn: anthropicKeyIn,
  wrongKey: wrongAnthropicKey,
  unreadable,
  unknownModel: (model) => ({ status: 404, message: `model: ${model}` }),
  overflow: invalidMessages("prompt is too long: 204857 tokens > 200000 maximum"),
  messageFor: anthropicMessageFor,
  errorBody: anthropicError,
  errorEvent: (refusal, { ids }) => namedEvent(anthropicError(refusal, ids)),
  ping,
  requestIdHeader: "request-id",
  sessionIn: (body) => stringOf(objectOf(body["metadata"])["user_id"]),
  modelRequest,
  answer: streamedMessage,
  whole: wholeMessage,
};

function unreadable(why: string): Refusal {
  return invalidMessages(`The request body is not valid JSON: ${why}`);
}

/** A lone surrogate, left by truncation, is invalid JSON for this API. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.keys(value).every((key) => key.isWellFormed()) && Object.values(value).every(isWellFormed);
}

/** Some mistakes have their own messages. */
function shapeRefusal(problem: Problem): Refusal {
  const { path, received } = problem;
  if (path.at(-1) === "role" && received === "system") {
    return invalidMessages(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    );
  }
  if (path.join(".") === "messages" && problem.kind === "too_small") {
    return invalidMessages("messages: at least one message is required");
  }
  if (path.at(-1) === "type" && problem.kind === "value") {
    const tags = problem.values.map((value) => `'${value}'`).join(", ");
    const found = `Input tag '${String(received)}' found using 'type' does not match any of the expected tags: ${tags}`;
    return invalidMessages(`${path.slice(0, -1).join(".")}: ${found}`);
  }
  return anthropicRefusal(problem);
}

/** Without the beta header, the API does not know threads. */
function takesThreads({ "anthropic-beta": betas }: IncomingHttpHeaders): boolean {
  return String(betas ?? "").includes("message-threads-");
}

/** Converts the request for the offline model. */
function modelRequest(body: JsonObject): ModelRequest {
  const { schema } = objectOf(objectOf(body["output_config"])["format"]);
  return {
    conversationId: stringOf(objectOf(body["metadata"])["user_id"]),
    model: stringOf(body["model"]),
    instructions: textIn(body["system"]),
    input: objectsOf(body["messages"]).flatMap(itemsOf),
    tools: objectsOf(body["tools"]).map((tool) => ({
      name: stringOf(tool["name"]),
      description: stringOf(tool["description"]),
      parameters: { ...objectOf(tool["input_schema"]) },
    })),
    ...(isRecord(schema) ? { outputSchema: schema } : {}),
  };
}

function itemsOf(message: JsonObject): ResponseItem[] {
  const role = roleOf(message["role"]);
  return blocksOf(message).flatMap((block): ResponseItem[] => {
    switch (block["type"]) {
      case "text":
        return [messageItem(role, block["text"])];
      case "tool_use": {
        const [name, args] = [stringOf(block["name"]), JSON.stringify(block["input"] ?? {})];
        return [{ type: "function_call", name, arguments: args, call_id: stringOf(block["id"]) }];
      }
      case "tool_result": {
        const call_id = stringOf(block["tool_use_id"]);
        return [{ type: "function_call_output", call_id, output: textIn(block["content"]) }];
      }
      default:
        return [];
    }
  });
}

/** The events of a message. */
function streamedMessage(reply: MockReply, exchange: Exchange): Answer {
  const answer = new AnswerBuilder();
  const send = (type: string, fields: object): void => answer.event(event(type, fields));
  const started = emptyMessage(exchange);
  const content = contentBlocks(reply, exchange);
  exchange.remember(started.id, content);
  send("message_start", { message: { ...started, usage: startUsage(exchange) } });
  let calls = 0;
  for (const [index, block] of content.entries()) {
    send("content_block_start", { index, content_block: opened(block) });
    if (index === 0) answer.event(ping);
    const call = block.type === "tool_use" ? reply.calls?.[calls] : undefined;
    if (call !== undefined) calls += 1;
    const [type, field, deltas] = deltasOf(block, reply, call === undefined ? "" : argumentsOf(call));
    const start = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":`;
    answer.deltas(deltas, (delta) => `${start}${delta}}}\n\n`);
    if (block.type === "thinking") {
      send("content_block_delta", { index, delta: { type: "signature_delta", signature: block.signature } });
    }
    send("content_block_stop", { index });
  }
  const { cache_creation_input_tokens, cache_read_input_tokens, input_tokens } = startUsage(exchange);
  const { output_tokens } = exchange.usage;
  send("message_delta", {
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    usage: { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens },
  });
  return answer.finish(event("message_stop", {}));
}

function opened(block: ContentBlock): object {
  if (block.type === "thinking") return { ...block, thinking: "", signature: "" };
  if (block.type === "text") return { ...block, text: "" };
  // Sent at once, without deltas.
  if (block.type === "redacted_thinking") return block;
  return { ...block, input: {} };
}

function deltasOf(block: ContentBlock, reply: MockReply, json: string): [string, string, readonly string[]] {
  const { textDeltas, reasoningDeltas } = partsOf(reply);
  if (block.type === "thinking") return ["thinking_delta", "thinking", reasoningDeltas];
  if (block.type === "text") return ["text_delta", "text", textDeltas];
  if (block.type === "redacted_thinking") return ["", "", []];
  // The API begins every input with an empty piece.
  return ["input_json_delta", "partial_json", ["", ...argumentPieces(json)].map((piece) => JSON.stringify(piece))];
}

function event(type: string, fields: object): string {
  return namedEvent({ type, ...fields });
}

/** A message that is not streamed. */
function wholeMessage(reply: MockReply, exchange: Exchange): object {
  const start = emptyMessage(exchange);
  const content = contentBlocks(reply, exchange);
  exchange.remember(start.id, content);
  return {
    ...start,
    content,
    stop_reason: stopReason(reply),
    usage: { ...startUsage(exchange), output_tokens: exchange.usage.output_tokens },
  };
}

function emptyMessage({ ids, model }: Exchange) {
  return {
    id: ids.next("msg_01"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function stopReason(reply: MockReply): string {
  if (reply.finish === "length") return "max_tokens";
  return (reply.calls ?? []).length > 0 ? "tool_use" : "end_turn";
}

/** This API does not count tokens read from the cache as input tokens. */
function startUsage({ usage }: Exchange) {
  return {
    input_tokens: Math.max(0, usage.input_tokens - usage.cached_input_tokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached_input_tokens,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: Math.min(1, usage.output_tokens),
    service_tier: "standard",
  };
}

/** The content blocks of an answer. */
function contentBlocks(reply: MockReply, exchange: Exchange) {
  const { text } = partsOf(reply);
  const calls = reply.calls ?? [];
  const thoughts = asksForThinking(exchange) ? thoughtBlocks(reply, exchange) : [];
  return [
    ...thoughts,
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map((call) => ({
      type: "tool_use" as const,
      id: call.id ?? toolUseIdAfter(exchange.ids.next("toolu_01"), thoughts),
      name: call.name,
      input: inputOf(call),
    })),
  ];
}

type ContentBlock = ReturnType<typeof contentBlocks>[number];

function thoughtBlocks(reply: MockReply, { model }: Exchange) {
  const { reasoning: thinking } = partsOf(reply);
  const { redacted } = reply;
  return [
    ...(thinking === "" ? [] : [{ type: "thinking" as const, thinking, signature: signatureOf(thinking, model) }]),
    ...(redacted === undefined ? [] : [{ type: "redacted_thinking" as const, data: redactedData(redacted, model) }]),
  ];
}

/** A message that is not streamed needs an object, whatever the script contains. */
function inputOf(call: MockCall): unknown {
  try {
    return JSON.parse(argumentsOf(call));
  } catch {
    return {};
  }
}

function asksForThinking({ body, unasked }: Exchange): boolean {
  const type = objectOf(body["thinking"])["type"];
  return unasked || type === "enabled" || type === "adaptive";
}
