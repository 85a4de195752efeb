import { isRecord } from "../../base/is-record.js";
import type { ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { namedEvent } from "../answer.js";
import { stringOf, type JsonObject, objectOf, objectsOf, roleOf, messageItem, textIn } from "../json.js";
import {
  bearerIn,
  contentTypeRefusal,
  openAiError,
  openAiMessageFor,
  openAiRefusal,
  unreadableOpenAi,
  wrongOpenAiKey,
} from "../openai/errors.js";
import type { MockApi, Continuation } from "../wire-api.js";
import { outputItems } from "./items.js";
import { finalStatus, responseObject } from "./response.js";
import { ruleRefusal } from "./rules.js";
import { shapeProblem } from "./shape.js";
import { streamedResponse } from "./stream.js";
import { isCustomTool } from "./tools.js";

/** A stored response is continued with `previous_response_id`; instructions and tools must be sent again. */
const continuation: Continuation = {
  anchorIn: ({ previous_response_id: id }) => (typeof id === "string" ? id : undefined),
  lost: (id) => ({
    status: 400,
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
    code: "previous_response_not_found",
  }),
  joined: (kept, body) => ({ ...body, input: [...itemsIn(kept), ...itemsIn(body)] }),
  isKept: ({ store }) => store !== false,
  answered: (whole, content) => ({ input: [...itemsIn(whole), ...content] }),
};

/** OpenAI's Responses API. */
export const responsesApi: MockApi = {
  name: "responses",
  refusal: (body, headers, whole = body) => {
    const problem = shapeProblem(body);
    return contentTypeRefusal(headers) ?? (problem === undefined ? ruleRefusal(whole, body) : openAiRefusal(problem));
  },
  continuation,
  keyIn: bearerIn,
  wrongKey: wrongOpenAiKey,
  unreadable: unreadableOpenAi,
  unknownModel: (model) => ({
    status: 400,
    message: `The requested model '${model}' does not exist.`,
    param: "model",
    code: "model_not_found",
  }),
  overflow: {
    status: 400,
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    param: "input",
    code: "context_length_exceeded",
  },
  messageFor: openAiMessageFor,
  errorBody: openAiError,
  errorEvent: (refusal, exchange, sent) => {
    const { message, code, type } = openAiError(refusal).error;
    const error = { code: code ?? type, message };
    const id = /"id":"(resp_[^"]+)"/.exec(sent)?.[1] ?? exchange.ids.next("resp_");
    const sequence_number = sent.split('"sequence_number":').length - 1;
    const event = { type: "error", ...error, param: null, sequence_number };
    const response = responseObject(id, { status: "failed", output: [], error }, exchange);
    const failed = { type: "response.failed", response, sequence_number: sequence_number + 1 };
    return namedEvent(event) + namedEvent(failed);
  },
  ping: ": keep-alive\n\n",
  requestIdHeader: "x-request-id",
  sessionIn: (body) => stringOf(body["prompt_cache_key"]),
  modelRequest,
  answer: streamedResponse,
  whole: (reply, exchange) => {
    const output = outputItems(reply, exchange);
    const id = exchange.ids.next("resp_");
    exchange.remember(id, output);
    return responseObject(id, { status: finalStatus(reply), output }, exchange);
  },
};

function itemsIn({ input }: JsonObject): unknown[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  return Array.isArray(input) ? input : [];
}

/** Converts the request for the offline model. */
function modelRequest(body: JsonObject): ModelRequest {
  const { input } = body;
  const { schema } = objectOf(objectOf(body["text"])["format"]);
  return {
    conversationId: stringOf(body["prompt_cache_key"]),
    model: stringOf(body["model"]),
    instructions: stringOf(body["instructions"]),
    input: typeof input === "string" ? [messageItem("user", input)] : objectsOf(input).flatMap(itemOf),
    tools: objectsOf(body["tools"]).map((tool) => ({
      name: stringOf(tool["name"]),
      description: stringOf(tool["description"]),
      parameters: { ...objectOf(tool["parameters"]) },
      ...(isCustomTool(tool) ? { freeform: true } : {}),
    })),
    ...(isRecord(schema) ? { outputSchema: schema } : {}),
  };
}

function itemOf(item: JsonObject): ResponseItem[] {
  const callId = stringOf(item["call_id"]);
  switch (item["type"] ?? "message") {
    case "message":
      return [messageItem(roleOf(item["role"]), item["content"])];
    case "function_call":
      return [
        {
          type: "function_call",
          name: stringOf(item["name"]),
          arguments: stringOf(item["arguments"]),
          call_id: callId,
        },
      ];
    case "function_call_output":
      return [{ type: "function_call_output", call_id: callId, output: textIn(item["output"]) }];
    case "custom_tool_call":
      return [
        { type: "custom_tool_call", name: stringOf(item["name"]), input: stringOf(item["input"]), call_id: callId },
      ];
    case "custom_tool_call_output":
      return [{ type: "custom_tool_call_output", call_id: callId, output: textIn(item["output"]) }];
    default:
      return [];
  }
}
