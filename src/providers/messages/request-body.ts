import type Anthropic from "@anthropic-ai/sdk";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { keptFor } from "../../base/memoize.js";
import type { ModelRequest } from "../../messages/model.js";
import type { OutputSchema } from "../../messages/output-schema.js";
import type { ToolSpec } from "../../messages/tool.js";
import { normalized } from "../normalize/normalized.js";
import { type AnthropicMessage, messageParams } from "./message-params.js";
import { thinkingParams } from "./thinking.js";

export function anthropicRequest(request: ModelRequest): Anthropic.MessageCreateParamsStreaming {
  const { model, instructions, tools, outputSchema } = request;
  const messages = messageParams(normalized("messages", request.input, model));
  const { output_config: config, ...room } = thinkingParams(request, messages);
  const output_config = outputSchema === undefined ? config : { ...config, format: anthropicFormat(outputSchema) };
  return {
    model,
    ...room,
    ...(output_config === undefined ? {} : { output_config }),
    ...(instructions.trim() === ""
      ? {}
      : { system: [{ type: "text", text: instructions.toWellFormed(), cache_control: ephemeral }] }),
    messages: cachedUpToHere(messages),
    ...(tools.length === 0 ? {} : { tools: tools.map(anthropicTool) }),
    stream: true,
  };
}

const ephemeral = { type: "ephemeral" } as const;

/** The next request begins like this one, so all of it is worth keeping. */
function cachedUpToHere(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last === undefined || block === undefined || block.type.endsWith("thinking")) return [...messages];
  const cached = { ...block, cache_control: ephemeral } as typeof block;
  return [...messages.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), cached] }];
}

const anthropicTool = keptFor(({ name, description, parameters }: ToolSpec): Anthropic.Tool => {
  return { name, description, input_schema: { ...parameters, type: "object" } };
});

/** What the API cannot enforce, as bounds of numbers, the SDK tells the model in the description instead. */
function anthropicFormat(schema: OutputSchema): Anthropic.JSONOutputFormat {
  return { type: "json_schema", schema: { ...transformJSONSchema(schema) } };
}
