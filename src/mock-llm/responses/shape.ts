import * as z from "zod";
import { withoutCheckedTools } from "../checked-tools.js";
import { entryOf, type JsonObject } from "../json.js";
import { firstProblem, type Path, type Problem, problemIn } from "../problem.js";
import { imageUrl } from "../openai/options.js";
import { itemName as name, toolProblem } from "./tools.js";

const effort = z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);
const summary = z.enum(["auto", "concise", "detailed"]);
const callId = z.string().min(1).max(64);
const status = z.enum(["in_progress", "completed", "incomplete"]).nullish();
const anyObject = z.record(z.string(), z.unknown());

const format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    name,
    schema: anyObject,
    description: z.string().optional(),
    strict: z.boolean().nullish(),
  }),
]);

/** Every documented parameter; those that cody does not use accept any value. */
const Request = z.strictObject({
  background: z.boolean().nullish(),
  context_management: z.array(anyObject).nullish(),
  conversation: z.union([z.string(), anyObject]).nullish(),
  include: z
    .array(
      z.enum([
        "file_search_call.results",
        "web_search_call.results",
        "web_search_call.action.sources",
        "message.input_image.image_url",
        "computer_call_output.output.image_url",
        "code_interpreter_call.outputs",
        "reasoning.encrypted_content",
        "message.output_text.logprobs",
      ]),
    )
    .nullish(),
  input: z.union([z.string(), z.array(anyObject)]).optional(),
  instructions: z.string().nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  model: z.string(),
  moderation: anyObject.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
  prompt: anyObject.nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_options: anyObject.optional(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).nullish(),
  reasoning: z
    .strictObject({
      context: z.enum(["auto", "current_turn", "all_turns"]).nullish(),
      effort: effort.nullish(),
      generate_summary: summary.nullish(),
      mode: z.string().optional(),
      summary: summary.nullish(),
    })
    .nullish(),
  safety_identifier: z.string().nullish(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority"]).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  text: z
    .strictObject({ format: format.optional(), verbosity: z.enum(["low", "medium", "high"]).nullish() })
    .optional(),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), anyObject]).optional(),
  tools: z.array(anyObject).optional(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  truncation: z.enum(["auto", "disabled"]).nullish(),
  user: z.string().optional(),
});

const Message = z.strictObject({
  type: z.literal("message").optional(),
  id: z.string().nullish(),
  role: z.enum(["assistant", "system", "developer", "user"]),
  content: z.union([z.string(), z.array(anyObject)]),
  status,
  phase: z.enum(["commentary", "final_answer"]).nullish(),
});

const output = z.union([z.string().max(10_485_760), z.array(anyObject)]);

const items: Readonly<Record<string, z.ZodType>> = {
  message: Message,
  reasoning: z.strictObject({
    type: z.literal("reasoning"),
    id: z.string().nullish(),
    summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
    content: z.array(z.strictObject({ type: z.literal("reasoning_text"), text: z.string() })).nullish(),
    encrypted_content: z.string().nullish(),
    status,
  }),
  function_call: z.strictObject({
    type: z.literal("function_call"),
    id: z.string().nullish(),
    call_id: callId,
    name,
    namespace: z.string().optional(),
    arguments: z.string(),
    caller: anyObject.nullish(),
    status,
  }),
  function_call_output: z.strictObject({
    type: z.literal("function_call_output"),
    id: z.string().nullish(),
    call_id: callId,
    output,
    caller: anyObject.nullish(),
    status,
  }),
  custom_tool_call: z.strictObject({
    type: z.literal("custom_tool_call"),
    id: z.string().nullish(),
    call_id: callId,
    name,
    namespace: z.string().optional(),
    input: z.string(),
    caller: anyObject.nullish(),
    status,
  }),
  custom_tool_call_output: z.strictObject({
    type: z.literal("custom_tool_call_output"),
    id: z.string().nullish(),
    call_id: callId,
    output,
    caller: anyObject.nullish(),
    status,
  }),
};

/** Items of tools that run at the provider: checked by name only. */
const otherItems = [
  "file_search_call",
  "computer_call",
  "computer_call_output",
  "web_search_call",
  "tool_search_call",
  "tool_search_output",
  "additional_tools",
  "compaction",
  "compaction_trigger",
  "image_generation_call",
  "code_interpreter_call",
  "local_shell_call",
  "local_shell_call_output",
  "shell_call",
  "shell_call_output",
  "apply_patch_call",
  "apply_patch_call_output",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_call",
  "item_reference",
  "program",
  "program_output",
];

const inputText = z.strictObject({ type: z.literal("input_text"), text: z.string() });
const inputParts = {
  input_text: inputText,
  input_image: z.strictObject({
    type: z.literal("input_image"),
    image_url: imageUrl.nullish(),
    file_id: z.string().nullish(),
    detail: z.enum(["low", "high", "auto", "original"]).nullish(),
  }),
  input_file: z.looseObject({ type: z.literal("input_file") }),
};
const outputParts = {
  output_text: z.strictObject({
    type: z.literal("output_text"),
    text: z.string(),
    annotations: z.array(z.unknown()).optional(),
    logprobs: z.array(z.unknown()).nullish(),
  }),
  refusal: z.strictObject({ type: z.literal("refusal"), refusal: z.string() }),
};

const partsByRole: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  assistant: outputParts,
  system: { input_text: inputText },
  developer: { input_text: inputText },
};

/** The first problem in the shape of a request to the Responses API. */
export const shapeProblem = withoutCheckedTools(
  (body): Problem | undefined =>
    problemIn(Request, body) ??
    firstProblem(body["input"], itemProblem, ["input"]) ??
    firstProblem(body["tools"], toolProblem, ["tools"]),
);

function itemProblem(item: JsonObject, at: Path): Problem | undefined {
  const type = item["type"] ?? "message";
  const schema = entryOf(items, type);
  if (schema === undefined) {
    const values = [...Object.keys(items), ...otherItems];
    if (typeof type === "string" && otherItems.includes(type)) return undefined;
    return { kind: "value", values, path: [...at, "type"], received: type };
  }
  const problem = problemIn(schema, item, at);
  if (problem !== undefined) return problem;
  const parts = entryOf(partsByRole, item["role"]) ?? inputParts;
  const list = type === "message" ? "content" : "output";
  return firstProblem(item[list], (part, place) => partProblem(part, place, parts), [...at, list]);
}

/** The model's own texts are `output_text`, all others `input_text`. */
function partProblem(part: JsonObject, at: Path, parts: Readonly<Record<string, z.ZodType>>): Problem | undefined {
  const schema = entryOf(parts, part["type"]);
  if (schema !== undefined) return problemIn(schema, part, at);
  return { kind: "value", values: Object.keys(parts), path: at, received: part["type"] };
}
