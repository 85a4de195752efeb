import * as z from "zod";
import { cacheToolCheck } from "../checked-tools.js";
import { entryOf, type JsonObject, objectsOf, stringOf } from "../json.js";
import { badRequest } from "../openai/errors.js";
import { functionRefusal } from "../openai/schema.js";
import { type Path, type Problem, problemIn } from "../problem.js";
import type { Refusal } from "../wire-api.js";

/** The name of a tool, also used in its calls. */
export const itemName = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);

const anyObject = z.record(z.string(), z.unknown());
const callers = z.array(z.enum(["direct", "programmatic"])).nullish();

const schemas: Readonly<Record<string, z.ZodType>> = {
  function: z.strictObject({
    type: z.literal("function"),
    name: itemName,
    parameters: anyObject.nullish(),
    strict: z.boolean().nullish(),
    description: z.string().nullish(),
    allowed_callers: callers,
    defer_loading: z.boolean().optional(),
    output_schema: anyObject.nullish(),
  }),
  custom: z.strictObject({
    type: z.literal("custom"),
    name: itemName,
    description: z.string().optional(),
    format: z
      .discriminatedUnion("type", [
        z.strictObject({ type: z.literal("text") }),
        z.strictObject({
          type: z.literal("grammar"),
          syntax: z.enum(["lark", "regex"]),
          definition: z.string().min(1),
        }),
      ])
      .optional(),
    allowed_callers: callers,
    defer_loading: z.boolean().optional(),
  }),
};

/** Tools that run at the provider, and groups of tools: checked by name only. */
const otherTypes = [
  "apply_patch",
  "code_interpreter",
  "computer",
  "computer_use_preview",
  "file_search",
  "image_generation",
  "local_shell",
  "mcp",
  "namespace",
  "programmatic_tool_calling",
  "shell",
  "tool_search",
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
];

/** GPT-5 introduced custom tools. */
const withoutCustomTools = /^(?:gpt-[34]|chatgpt-|o\d|codex-mini|gpt-5[.\d]*-chat)/;

export function toolProblem(tool: JsonObject, at: Path): Problem | undefined {
  const { type } = tool;
  const path = [...at, "type"];
  if (type === undefined) return { kind: "missing", path, received: undefined };
  const schema = entryOf(schemas, type);
  if (schema !== undefined) return problemIn(schema, tool, at);
  if (typeof type === "string" && otherTypes.includes(type)) return undefined;
  return { kind: "value", values: [...Object.keys(schemas), ...otherTypes], path, received: type };
}

/** Checks rules beyond the shape of the tools. */
export function toolRefusal(body: JsonObject): Refusal | undefined {
  return functionsRefusal(body["tools"]) ?? customToolRefusal(body);
}

const functionsRefusal = cacheToolCheck((tools): Refusal | undefined => {
  for (const [index, tool] of objectsOf(tools).entries()) {
    const refusal = tool["type"] === "function" ? functionRefusal(tool, `tools[${index}].parameters`) : undefined;
    if (refusal !== undefined) return refusal;
  }
  return undefined;
});

function customToolRefusal(body: JsonObject): Refusal | undefined {
  const model = stringOf(body["model"]);
  if (!withoutCustomTools.test(model) || !objectsOf(body["tools"]).some(isCustomTool)) return undefined;
  return badRequest(`Tool 'custom' is not supported with ${model}.`, "tools");
}

export function isCustomTool(tool: JsonObject): boolean {
  return tool["type"] === "custom";
}
