import type * as z from "zod";
import { InvalidInputError } from "../messages/errors.js";
import { type ToolOutput, ToolSpec } from "../messages/tool.js";
import type { Tool, ToolContext, ToolScope } from "./tool.js";

export interface ToolDefinition<Args> {
  readonly name: string;
  readonly description: string;
  readonly parameters: z.ZodType<Args>;
  /** Whether its only argument is a text named `input`: some models then give it as it is, and not in JSON. */
  readonly freeform?: boolean;
  /** False unless said: a tool nobody vouched for is asked about. */
  readonly readOnly?: boolean;
  command?(args: Args, scope: ToolScope): ReturnType<Tool["command"]>;
  /** A text is an output with success. */
  run(args: Args, context: ToolContext): Promise<ToolOutput | string> | ToolOutput | string;
}

/** A tool from its schema and a function. */
export function defineTool<Args>(definition: ToolDefinition<Args>): Tool<Args> {
  const { name, description, parameters, freeform = false, readOnly = false } = definition;
  if (!ToolSpec.shape.name.safeParse(name).success) {
    throw new InvalidInputError("a tool's name has 1 to 64 letters, digits, _ and -");
  }
  return {
    name,
    description,
    parameters,
    freeform,
    readOnly,
    command: async (args, scope) =>
      (await definition.command?.(args, scope)) ?? { argv: [name, JSON.stringify(args)], cwd: scope.cwd },
    run: async (args, context) => {
      const output = await definition.run(args, context);
      return typeof output === "string" ? { content: output, success: true } : output;
    },
  };
}
