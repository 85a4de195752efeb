import * as z from "zod";
import type { ToolSpec } from "../messages/tool.js";
import type { Tool } from "./tool.js";

/** A tool as a model is told of it. */
export function toolSpec({ name, description, parameters, freeform }: Tool): ToolSpec {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  return { name, description, parameters: schema, ...(freeform === true ? { freeform } : {}) };
}
