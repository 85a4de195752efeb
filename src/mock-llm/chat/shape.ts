import * as z from "zod";
import { withoutCheckedTools } from "../checked-tools.js";
import { entryOf, type JsonObject, stringOf } from "../json.js";
import { firstProblem, type Path, type Problem, problemIn } from "../problem.js";
import { imageUrl } from "../openai/options.js";

const anyObject = z.record(z.string(), z.unknown());
const name = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);
const penalty = z.number().min(-2).max(2).nullish();

/** Every documented parameter; those that cody does not use accept any value. */
const Request = z.strictObject({
  messages: z.array(anyObject).min(1),
  model: z.string(),
  audio: anyObject.nullish(),
  frequency_penalty: penalty,
  function_call: z.union([z.enum(["none", "auto"]), anyObject]).optional(),
  functions: z.array(anyObject).optional(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  modalities: z.array(z.enum(["text", "audio"])).nullish(),
  moderation: anyObject.nullish(),
  n: z.int().min(1).max(128).nullish(),
  parallel_tool_calls: z.boolean().optional(),
  prediction: anyObject.nullish(),
  presence_penalty: penalty,
  prompt_cache_key: z.string().nullish(),
  prompt_cache_options: anyObject.optional(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).nullish(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish(),
  response_format: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text") }),
      z.strictObject({ type: z.literal("json_object") }),
      z.strictObject({
        type: z.literal("json_schema"),
        json_schema: z.strictObject({
          name,
          description: z.string().optional(),
          schema: anyObject.optional(),
          strict: z.boolean().nullish(),
        }),
      }),
    ])
    .optional(),
  safety_identifier: z.string().nullish(),
  seed: z.int().nullish(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority"]).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), anyObject]).optional(),
  tools: z.array(anyObject).min(1).optional(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  user: z.string().optional(),
  verbosity: z.enum(["low", "medium", "high"]).nullish(),
  web_search_options: anyObject.optional(),
});

const FunctionTool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name,
    description: z.string().optional(),
    parameters: anyObject.optional(),
    strict: z.boolean().nullish(),
  }),
});

const ToolCall = z.strictObject({
  id: z.string().min(1).max(40),
  type: z.literal("function"),
  function: z.strictObject({ name, arguments: z.string() }),
});
const CustomCall = z.strictObject({
  id: z.string(),
  type: z.literal("custom"),
  custom: z.strictObject({ name: z.string(), input: z.string() }),
});

const content = z.union([z.string(), z.array(anyObject).min(1)]);
const messageShape = { content, name: z.string().optional() };

const messages: Readonly<Record<string, z.ZodType>> = {
  system: z.strictObject({ role: z.literal("system"), ...messageShape }),
  developer: z.strictObject({ role: z.literal("developer"), ...messageShape }),
  user: z.strictObject({ role: z.literal("user"), ...messageShape }),
  assistant: z.strictObject({
    role: z.literal("assistant"),
    content: content.nullish(),
    name: z.string().optional(),
    refusal: z.string().nullish(),
    audio: anyObject.nullish(),
    function_call: anyObject.nullish(),
    tool_calls: z.array(anyObject).min(1).optional(),
    annotations: z.array(z.unknown()).optional(),
  }),
  tool: z.strictObject({ role: z.literal("tool"), content, tool_call_id: z.string() }),
  function: z.strictObject({ role: z.literal("function"), content: z.string().nullable(), name: z.string() }),
};

const text = z.strictObject({ type: z.literal("text"), text: z.string() });
const partsByRole: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  assistant: { text, refusal: z.strictObject({ type: z.literal("refusal"), refusal: z.string() }) },
  user: {
    text,
    image_url: z.strictObject({
      type: z.literal("image_url"),
      image_url: z.strictObject({ url: imageUrl, detail: z.enum(["auto", "low", "high"]).optional() }),
    }),
    input_audio: z.looseObject({ type: z.literal("input_audio") }),
    file: z.looseObject({ type: z.literal("file") }),
  },
};

const openAiModels = /^(?:gpt-|o\d|chatgpt-|codex-)/;

/** Servers of other models send their reasoning, and accept it back. */
function withoutThoughts(message: JsonObject): JsonObject {
  const { reasoning_content: thoughts, ...rest } = message;
  return message["role"] === "assistant" && typeof thoughts === "string" ? rest : message;
}

/** The first problem in the shape of a request to the Chat Completions API. */
export const shapeProblem = withoutCheckedTools((body): Problem | undefined => {
  const isOpenAi = openAiModels.test(stringOf(body["model"]));
  const check = (message: JsonObject, at: Path) => messageProblem(isOpenAi ? message : withoutThoughts(message), at);
  return (
    problemIn(Request, body) ??
    firstProblem(body["messages"], check, ["messages"]) ??
    firstProblem(body["tools"], toolProblem, ["tools"])
  );
});

function toolProblem(tool: JsonObject, at: Path): Problem | undefined {
  return tool["type"] === "custom" ? undefined : problemIn(FunctionTool, tool, at);
}

function messageProblem(message: JsonObject, at: Path): Problem | undefined {
  const role = message["role"];
  if (role === undefined) return { kind: "missing", path: [...at, "role"], received: role };
  const schema = entryOf(messages, role);
  if (schema === undefined) {
    return { kind: "value", values: Object.keys(messages), path: [...at, "role"], received: role };
  }
  const parts = entryOf(partsByRole, role) ?? { text };
  return (
    problemIn(schema, message, at) ??
    firstProblem(message["content"], (part, place) => partProblem(part, place, parts), [...at, "content"]) ??
    firstProblem(message["tool_calls"], callProblem, [...at, "tool_calls"])
  );
}

function callProblem(call: JsonObject, at: Path): Problem | undefined {
  return problemIn(call["type"] === "custom" ? CustomCall : ToolCall, call, at);
}

function partProblem(part: JsonObject, at: Path, parts: Readonly<Record<string, z.ZodType>>): Problem | undefined {
  const schema = entryOf(parts, part["type"]);
  if (schema !== undefined) return problemIn(schema, part, at);
  return { kind: "value", values: Object.keys(parts), path: [...at, "type"], received: part["type"] };
}
