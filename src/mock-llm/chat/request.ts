import { isRecord } from "../../base/is-record.js";
import type { ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { isGiven, type JsonObject, objectOf, objectsOf, stringOf } from "../json.js";
import { roleOf, said, textIn } from "../said.js";

/** The request as the offline model reads it. */
export function modelRequest(body: JsonObject): ModelRequest {
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
  return [...(isGiven(content) ? [said(roleOf(message["role"]), content)] : []), ...calls];
}
