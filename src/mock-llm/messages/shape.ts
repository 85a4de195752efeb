import * as z from "zod";
import { withoutCheckedTools } from "../checked-tools.js";
import { entryOf, isGiven, type JsonObject, stringOf } from "../json.js";
import { firstProblem, type Path, type Problem, problemIn } from "../problem.js";

const anyObject = z.record(z.string(), z.unknown());
const CacheControl = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() }).nullish();
const id = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const display = z.enum(["summarized", "omitted"]).nullish();

const Text = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  cache_control: CacheControl,
  citations: z.array(z.unknown()).nullish(),
});

/** Every documented parameter; those that cody does not use accept any value. */
const Request = z.strictObject({
  model: z.string().min(1),
  messages: z.array(anyObject).min(1),
  max_tokens: z.int().min(1),
  cache_control: CacheControl,
  container: z.union([z.string(), anyObject]).nullish(),
  context_management: anyObject.nullish(),
  diagnostics: anyObject.nullish(),
  inference_geo: z.string().nullish(),
  mcp_servers: z.array(anyObject).optional(),
  metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
      format: z.strictObject({ type: z.literal("json_schema"), schema: anyObject }).nullish(),
    })
    .optional(),
  service_tier: z.enum(["auto", "standard_only"]).optional(),
  speed: z.enum(["standard", "fast"]).nullish(),
  stop_sequences: z.array(z.string()).optional(),
  stream: z.boolean().optional(),
  system: z.union([z.string(), z.array(Text)]).optional(),
  temperature: z.number().min(0).max(1).optional(),
  thinking: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1_024), display }),
      z.strictObject({ type: z.literal("adaptive"), display }),
      z.strictObject({ type: z.literal("disabled") }),
      z.looseObject({ type: z.literal("between_tools") }),
    ])
    .optional(),
  tool_choice: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("auto"), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal("any"), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({
        type: z.literal("tool"),
        name: z.string(),
        disable_parallel_tool_use: z.boolean().optional(),
      }),
      z.strictObject({ type: z.literal("none") }),
    ])
    .optional(),
  tools: z.array(anyObject).optional(),
  top_k: z.int().min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
  user_profile_id: z.string().optional(),
  workspace_id: z.string().optional(),
});

const Message = z.strictObject({
  role: z.enum(["user", "assistant"]),
  content: z.union([z.string(), z.array(anyObject)]),
});

const Image = z.strictObject({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("base64"),
      media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
      data: z.string().min(1),
    }),
    z.strictObject({ type: z.literal("url"), url: z.string().regex(/^https?:\/\/\S/) }),
    z.strictObject({ type: z.literal("file"), file_id: z.string() }),
  ]),
  cache_control: CacheControl,
});
const others = [
  "document",
  "search_result",
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "container_upload",
];
const blocks: Readonly<Record<string, z.ZodType>> = {
  text: Text,
  image: Image,
  thinking: z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  redacted_thinking: z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() }),
  tool_use: z.strictObject({
    type: z.literal("tool_use"),
    id,
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,200}$/),
    input: anyObject,
    cache_control: CacheControl,
    caller: anyObject.optional(),
    toolset_name: z.string().nullish(),
  }),
  tool_result: z.strictObject({
    type: z.literal("tool_result"),
    tool_use_id: id,
    content: z.union([z.string(), z.array(anyObject)]).optional(),
    is_error: z.boolean().optional(),
    cache_control: CacheControl,
    toolset_name: z.string().nullish(),
  }),
  ...Object.fromEntries(others.map((type) => [type, z.looseObject({ type: z.literal(type) })])),
};
const resultBlocks: Readonly<Record<string, z.ZodType>> = {
  text: Text,
  image: Image,
  ...Object.fromEntries(
    ["document", "search_result", "tool_reference", "browser_state"].map((type) => [
      type,
      z.looseObject({ type: z.literal(type) }),
    ]),
  ),
};

const CustomTool = z.strictObject({
  type: z.literal("custom").nullish(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal("object") }),
  cache_control: CacheControl,
  allowed_callers: z.array(z.string()).optional(),
  defer_loading: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  input_examples: z.array(anyObject).optional(),
  strict: z.boolean().optional(),
});

/** The first problem in the shape of a request to the Messages API. */
export const shapeProblem = withoutCheckedTools(
  (body): Problem | undefined =>
    problemIn(Request, body) ??
    firstProblem(body["messages"], messageProblem, ["messages"]) ??
    firstProblem(body["tools"], toolProblem, ["tools"]),
);

function toolProblem(tool: JsonObject, at: Path): Problem | undefined {
  if (isGiven(tool["type"]) && tool["type"] !== "custom") return undefined;
  return problemIn(CustomTool, tool, [...at, "custom"]);
}

function messageProblem(message: JsonObject, at: Path): Problem | undefined {
  return (
    problemIn(Message, message, at) ??
    firstProblem(message["content"], (block, place) => blockProblem(block, place, blocks), [...at, "content"])
  );
}

function blockProblem(block: JsonObject, at: Path, known: Readonly<Record<string, z.ZodType>>): Problem | undefined {
  const type = stringOf(block["type"]);
  const schema = entryOf(known, type);
  if (block["type"] === undefined) return { kind: "missing", path: [...at, "type"], received: undefined };
  if (schema === undefined) return { kind: "value", values: Object.keys(known), path: [...at, "type"], received: type };
  const problem = problemIn(schema, block, [...at, type]);
  if (problem !== undefined || type !== "tool_result") return problem;
  const place = [...at, type, "content"];
  return firstProblem(block["content"], (inner, where) => blockProblem(inner, where, resultBlocks), place);
}
