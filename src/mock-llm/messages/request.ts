import { isRecord } from "../../base/is-record.js";
import type { ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { type JsonObject, objectOf, objectsOf, stringOf } from "../json.js";
import { roleOf, said, textIn } from "../said.js";
import { blocksOf } from "./turns.js";

/** The request as the offline model reads it. */
export function modelRequest(body: JsonObject): ModelRequest {
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
        return [said(role, block["text"])];
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
