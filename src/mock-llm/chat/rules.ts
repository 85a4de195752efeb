import { isJsonObject } from "../../base/parse.js";
import { cacheToolCheck } from "../checked-tools.js";
import { isGiven, type JsonObject, objectOf, objectsOf, stringOf } from "../json.js";
import { badRequest } from "../openai/errors.js";
import { effortRefusal, samplingRefusal, mentionsJson } from "../openai/options.js";
import { functionRefusal, schemaRefusal } from "../openai/schema.js";
import type { Refusal } from "../wire-api.js";

const reasons = /^(?:o\d|gpt-5)/;

/** Checks rules beyond the shape of a request. */
export function ruleRefusal(body: JsonObject): Refusal | undefined {
  const { stream, stream_options: options } = body;
  if (isGiven(options) && stream !== true) {
    return badRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  }
  if (isGiven(body["max_tokens"]) && isGiven(body["max_completion_tokens"])) {
    return badRequest("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", null);
  }
  if (isGiven(body["max_tokens"]) && reasons.test(stringOf(body["model"]))) {
    const text = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    return badRequest(`Unsupported parameter: ${text}`, "max_tokens", "unsupported_parameter");
  }
  const messages = objectsOf(body["messages"]);
  const format = objectOf(objectOf(body["response_format"])["json_schema"]);
  return (
    effortRefusal(stringOf(body["model"]), body["reasoning_effort"], "reasoning_effort") ??
    samplingRefusal(body, otherTemperature) ??
    schemaRefusal(format, "response_format") ??
    jsonWordRefusal(body) ??
    toolRefusal(body) ??
    contentRefusal(messages) ??
    argumentsRefusal(messages) ??
    pairRefusal(messages)
  );
}

function otherTemperature(temperature: unknown): Refusal {
  const rule = `'temperature' does not support ${String(temperature)} with this model.`;
  const text = `Unsupported value: ${rule} Only the default (1) value is supported.`;
  return badRequest(text, "temperature", "unsupported_value");
}

function jsonWordRefusal(body: JsonObject): Refusal | undefined {
  if (objectOf(body["response_format"])["type"] !== "json_object" || mentionsJson(body["messages"])) return undefined;
  const text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  return badRequest(text, "messages");
}

function toolRefusal(body: JsonObject): Refusal | undefined {
  const alone = isGiven(body["tools"])
    ? undefined
    : ["tool_choice", "parallel_tool_calls"].find((key) => isGiven(body[key]) && body[key] !== "none");
  if (alone !== undefined) return badRequest(`'${alone}' is only allowed when 'tools' are specified.`, alone);
  return functionsRefusal(body["tools"]);
}

const functionsRefusal = cacheToolCheck((tools): Refusal | undefined => {
  for (const [index, tool] of objectsOf(tools).entries()) {
    const refusal = functionRefusal(objectOf(tool["function"]), `tools[${index}].function.parameters`);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
});

function contentRefusal(messages: readonly JsonObject[]): Refusal | undefined {
  const index = messages.findIndex(
    (message) =>
      message["role"] === "assistant" &&
      ["content", "refusal", "tool_calls", "function_call", "audio"].every((key) => !isGiven(message[key])),
  );
  if (index === -1) return undefined;
  return badRequest("Invalid value for 'content': expected a string, got null.", `messages.[${index}].content`);
}

/**
 * OpenAI's own servers may not check this, but many compatible ones parse the arguments in every request, and reject
 * the whole conversation if they cannot.
 */
function argumentsRefusal(messages: readonly JsonObject[]): Refusal | undefined {
  for (const [index, message] of messages.entries()) {
    const calls = objectsOf(message["tool_calls"]).filter(({ type }) => type === "function");
    const place = calls.findIndex((call) => !isJsonObject(stringOf(objectOf(call["function"])["arguments"])));
    if (place === -1) continue;
    const param = `messages.[${index}].tool_calls.[${place}].function.arguments`;
    return badRequest(`Invalid '${param}': expected a JSON object.`, param);
  }
  return undefined;
}

/** The tool messages of a call must follow it at once, one per call, and no id may repeat. */
function pairRefusal(messages: readonly JsonObject[]): Refusal | undefined {
  const seen = new Set<string>();
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message["role"] === "tool") {
      if (!open.delete(stringOf(message["tool_call_id"]))) return orphanRefusal(index);
      continue;
    }
    if (open.size > 0) return unansweredRefusal(open);
    const ids = objectsOf(message["tool_calls"]).map((call) => stringOf(call["id"]));
    const double = ids.find((id, place) => seen.has(id) || ids.indexOf(id) !== place);
    if (double !== undefined) {
      return badRequest(`Duplicate value for 'tool_call_id' of '${double}'.`, `messages.[${index}].tool_calls`);
    }
    for (const id of ids) seen.add(id);
    open = new Set(ids);
  }
  return open.size > 0 ? unansweredRefusal(open) : undefined;
}

function orphanRefusal(index: number): Refusal {
  const text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
  return badRequest(`Invalid parameter: ${text}`, `messages.[${index}].role`);
}

function unansweredRefusal(open: ReadonlySet<string>): Refusal {
  const rule =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  const missing = `The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
  return badRequest(`${rule} ${missing}`, "messages");
}
