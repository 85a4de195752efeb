import type { Responses } from "openai/resources/responses/responses";
import type { ModelRequest } from "../../messages/model.js";
import type { MessageItem, ToolOutputContent } from "../../messages/response-item.js";
import type { ToolSpec } from "../../messages/tools/tool.js";
import { memoizeByObject } from "../../base/memoize.js";
import { supportsCustomTools, canReason, effortFor, outputFormat } from "../normalize/api-rules.js";
import { normalizeHistory } from "../normalize/normalize-history.js";
import type { CustomItem, SentItem } from "../normalize/convert-item.js";

type Body = Responses.ResponseCreateParamsStreaming;
type InputItem = Responses.ResponseInputItem;

/** Converts a request to the Responses format. The server stores nothing, so reasoning is sent back encrypted. */
export function responsesBody(request: ModelRequest): Body {
  const { conversationId, model, instructions, tools, maxOutputTokens, outputSchema } = request;
  return {
    model,
    ...(instructions === "" ? {} : { instructions }),
    input: normalizeHistory("responses", request.input, model).map(inputItem),
    ...(tools.length === 0 ? {} : { tools: tools.map(supportsCustomTools(model) ? offeredTool : functionTool) }),
    ...(canReason(request)
      ? { reasoning: reasoning(effortFor(request)), include: ["reasoning.encrypted_content"] }
      : {}),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(outputSchema === undefined ? {} : { text: { format: { type: "json_schema", ...outputFormat(outputSchema) } } }),
    prompt_cache_key: conversationId,
    store: false,
    stream: true,
  };
}

/** Plain text needs no quoting, so a model can write a long patch exactly as it goes into the file. */
const offeredTool = memoizeByObject((tool: ToolSpec): Responses.Tool => {
  if (tool.freeform !== true) return functionTool(tool);
  const description = `${tool.description}\nThe input is plain text, not JSON.`;
  return { type: "custom", name: tool.name, description, format: { type: "text" } };
});

const functionTool = memoizeByObject(({ name, description, parameters }: ToolSpec): Responses.Tool => {
  return { type: "function", strict: false, name, description, parameters };
});

function reasoning(effort: string | undefined): NonNullable<Body["reasoning"]> {
  const summary = "auto";
  // Models accept new efforts before the SDK's types list them.
  return effort === undefined ? { summary } : { summary, effort: effort as "high" };
}

/**
 * Sends only fields that the API knows: none of our own and no nulls. Ids are sent only for reasoning, and only those
 * from the API: a message or call with an id is rejected unless the reasoning before it is sent too.
 */
function inputItem(item: SentItem | CustomItem): InputItem {
  switch (item.type) {
    case "message":
      return { type: "message", role: item.role, content: content(item) } as InputItem;
    case "reasoning": {
      const { type, summary, encrypted_content } = item;
      const id = item.id?.startsWith("rs_") === true ? { id: item.id } : {};
      return { type, summary, encrypted_content, ...id } as InputItem;
    }
    case "function_call": {
      const { type, call_id, name, namespace } = item;
      const call = { type, call_id, name, arguments: item.arguments };
      return namespace === null || namespace === undefined ? call : { ...call, namespace };
    }
    case "custom_tool_call":
      return { type: item.type, call_id: item.call_id, name: item.name, input: item.input };
    case "web_search_call": {
      const search: object = { type: item.type, status: item.status, action: item.action };
      return search as InputItem;
    }
    default:
      return { type: item.type, call_id: item.call_id, output: output(item.output) };
  }
}

function content({ role, content: parts }: MessageItem): object[] {
  const type = role === "assistant" ? "output_text" : "input_text";
  // A loop, because this runs for every part of the history in every request, and flatMap takes ten times as long.
  const sent: object[] = [];
  for (const part of parts) {
    if ("text" in part) sent.push({ type, text: part.text });
    else if (part.type === "input_image") sent.push(image(part));
  }
  return sent;
}

function output(toolOutput: ToolOutputContent): string | Responses.ResponseInputContent[] {
  if (typeof toolOutput === "string") return toolOutput;
  return toolOutput.flatMap((part): Responses.ResponseInputContent[] => {
    if ("text" in part) return [{ type: "input_text", text: part.text }];
    return part.type === "input_image" ? [image(part)] : [];
  });
}

function image(part: { image_url: string; detail?: string | null | undefined }): Responses.ResponseInputImage {
  return { type: "input_image", image_url: part.image_url, detail: (part.detail ?? "auto") as "auto" };
}
