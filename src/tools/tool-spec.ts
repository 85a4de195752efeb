import * as z from "zod";
import { isRecord } from "../base/is-record.js";
import type { ToolSpec } from "../messages/tools/tool.js";
import type { Tool } from "./tool.js";

/** The description of a tool that is sent to a model. */
export function toolSpec({ name, description, parameters, freeform }: Tool): ToolSpec {
  if (!isRecord(parameters) || !("_zod" in parameters)) throw new Error("they are not a zod 4 schema");
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  return { name, description, parameters: schema, ...(freeform === true ? { freeform } : {}) };
}
