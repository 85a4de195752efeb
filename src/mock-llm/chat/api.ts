import { isRecord } from "../../base/is-record.js";
import type { ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { type Answer, AnswerBuilder } from "../answer.js";
import { argumentsOf, argumentPieces, partsOf } from "../split-deltas.js";
import { stringOf, isGiven, type JsonObject, objectOf, objectsOf, roleOf, messageItem, textIn } from "../json.js";
import {
  badRequest,
  bearerIn,
  contentTypeRefusal,
  openAiError,
  openAiMessageFor,
  openAiRefusal,
  unreadableOpenAi,
  wrongOpenAiKey,
} from "../openai/errors.js";
import type { Problem } from "../problem.js";
import type { MockReply } from "../script.js";
import type { MockApi, Refusal, Exchange } from "../wire-api.js";
import { ruleRefusal } from "./rules.js";
import { shapeProblem } from "./shape.js";

const windowTokens = 128_000;

/** OpenAI's Chat Completions API. */
export const chatApi: MockApi = {
  name: "chat",
  refusal: (body, headers) => {
    const problem = shapeProblem(body);
    return contentTypeRefusal(headers) ?? (problem === undefined ? ruleRefusal(body) : shapeRefusal(problem));
  },
  keyIn: bearerIn,
  wrongKey: wrongOpenAiKey,
  unreadable: unreadableOpenAi,
  unknownModel: (model) => ({
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    code: "model_not_found",
  }),
  overflow: {
    status: 400,
    message: `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${windowTokens + 2_345} tokens. Please reduce the length of the messages.`,
    param: "messages",
    code: "context_length_exceeded",
  },
  messageFor: openAiMessageFor,
  errorBody: openAiError,
  errorEvent: (refusal) => `data: ${JSON.stringify(openAiError(refusal))}\n\n`,
  ping: ": keep-alive\n\n",
  requestIdHeader: "x-request-id",
  sessionIn: (body) => stringOf(body["prompt_cache_key"]),
  modelRequest,
  answer: streamedCompletion,
  whole: wholeCompletion,
};

/** This API has an older message for an unknown top-level parameter. */
function shapeRefusal(problem: Problem): Refusal {
  const isTop = problem.kind === "unknown" && problem.path.length === 1;
  if (!isTop) return openAiRefusal(problem);
  return badRequest(`Unrecognized request argument supplied: ${String(problem.path[0])}`, null);
}

/** Converts the request for the offline model. */
function modelRequest(body: JsonObject): ModelRequest {
  const { schema } = objectOf(objectOf(body["response_format"])["json_schema"]);
  return {
    conversationId: stringOf(body["prompt_cache_key"]),
    model: stringOf(body["model"]),
    instructions: "",
    input: objectsOf(body["messages"]).flatMap(itemsOf),
    tools: objectsOf(body["tools"]).map((tool) => {
      const { name, description, parameters } = objectOf(tool["function"]);
      return {
        name: stringOf(name),
        description: stringOf(description),
        parameters: { ...objectOf(parameters) },
      };
    }),
    ...(isRecord(schema) ? { outputSchema: schema } : {}),
  };
}

function itemsOf(message: JsonObject): ResponseItem[] {
  if (message["role"] === "tool") {
    const call_id = stringOf(message["tool_call_id"]);
    return [{ type: "function_call_output", call_id, output: textIn(message["content"]) }];
  }
  const calls = objectsOf(message["tool_calls"]).map((call): ResponseItem => {
    const called = objectOf(call["function"]);
    const [name, args] = [stringOf(called["name"]), stringOf(called["arguments"])];
    return { type: "function_call", name, arguments: args, call_id: stringOf(call["id"]) };
  });
  const { content } = message;
  return [...(isGiven(content) ? [messageItem(roleOf(message["role"]), content)] : []), ...calls];
}

/** The chunks of a chat completion. */
function streamedCompletion(reply: MockReply, exchange: Exchange): Answer {
  const { ids, createdAt, model, body } = exchange;
  const { text, textDeltas, reasoningDeltas } = partsOf(reply);
  const withUsage = objectOf(body["stream_options"])["include_usage"] === true;
  const fields = {
    id: ids.next("chatcmpl-"),
    object: "chat.completion.chunk",
    created: createdAt,
    model,
    service_tier: "default",
    system_fingerprint: "fp_mock",
  };
  const start = `data: ${JSON.stringify(fields).slice(0, -1)}`;
  const end = withUsage ? `,"usage":null}\n\n` : "}\n\n";
  const chunk = (delta: string, finish: string | null = null) =>
    `${start},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]${end}`;

  const answer = new AnswerBuilder();
  const calls = reply.calls ?? [];
  const content = text === "" && calls.length > 0 ? null : "";
  answer.event(chunk(JSON.stringify({ role: "assistant", content, refusal: null })));
  // Not OpenAI's: compatible servers send their models' reasoning like this.
  answer.deltas(reasoningDeltas, (delta) => chunk(`{"reasoning_content":${delta}}`));
  answer.deltas(textDeltas, (delta) => chunk(`{"content":${delta}}`));
  for (const [index, call] of calls.entries()) {
    const opened = { index, id: call.id ?? ids.next("call_"), type: "function" };
    const begun = { ...opened, function: { name: call.name, arguments: "" } };
    answer.event(chunk(JSON.stringify({ tool_calls: [begun] })));
    const pieces = argumentPieces(argumentsOf(call)).map((piece) => JSON.stringify(piece));
    answer.deltas(pieces, (piece) => chunk(`{"tool_calls":[{"index":${index},"function":{"arguments":${piece}}}]}`));
  }
  const usage = withUsage ? `${start},"choices":[],"usage":${JSON.stringify(usageObject(exchange.usage))}}\n\n` : "";
  return answer.finish(`${chunk("{}", finishReason(reply))}${usage}data: [DONE]\n\n`);
}

/** A chat completion that is not streamed. */
function wholeCompletion(reply: MockReply, exchange: Exchange): object {
  const { ids, createdAt, model } = exchange;
  const { text, reasoning } = partsOf(reply);
  const calls = (reply.calls ?? []).map((call) => ({
    id: call.id ?? ids.next("call_"),
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
  const message = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    annotations: [],
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    id: ids.next("chatcmpl-"),
    object: "chat.completion",
    created: createdAt,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }],
    usage: usageObject(exchange.usage),
    service_tier: "default",
    system_fingerprint: "fp_mock",
  };
}

function finishReason(reply: MockReply): string {
  if (reply.finish === "length") return "length";
  return (reply.calls ?? []).length > 0 ? "tool_calls" : "stop";
}

function usageObject(usage: Exchange["usage"]) {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning_output_tokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
