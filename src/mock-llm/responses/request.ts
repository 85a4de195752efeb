import { isRecord } from "../../base/is-record.js";
import type { ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { type JsonObject, objectOf, objectsOf, stringOf } from "../json.js";
import { roleOf, said, textIn } from "../said.js";
import { isCustomTool } from "./tools.js";

/** The request as the offline model reads it. */
export function modelRequest(body: JsonObject): ModelRequest {
  const { input } = body;
  const { schema } = objectOf(objectOf(body["text"])["format"]);
  return {
    conversationId: stringOf(body["prompt_cache_key"]),
    model: stringOf(body["model"]),
    instructions: stringOf(body["instructions"]),
    input: typeof input === "string" ? [said("user", input)] : objectsOf(input).flatMap(itemOf),
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
      return [said(roleOf(item["role"]), item["content"])];
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
