import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { InvalidInputError } from "../base/errors.js";
import { isRecord } from "../base/is-record.js";
import { type ToolOutput, ToolSpec } from "../messages/tools/tool.js";
import type { CommandLine, Tool, ToolContext, ToolScope } from "./tool.js";

/** A text that can be passed to the system, which would truncate it at a NUL. */
export const ArgumentText = z.string().refine((value) => !value.includes("\0"), "must not contain NUL");

/** The `command` of a tool that reads the file or folder at its argument `path`. */
export async function readCommand(
  name: string,
  args: { readonly path?: string | undefined },
  { cwd }: ToolScope,
): Promise<CommandLine> {
  const path = resolve(cwd, args.path ?? ".");
  // The file is approved, wherever links lead later.
  const real = await realpath(path).catch(() => path);
  return { argv: [name, JSON.stringify(args)], cwd, access: { type: "read", paths: [real] } };
}

export const PathArgument = ArgumentText.min(1).describe("Relative to the working folder, or absolute");

/** A model passes a tool's arguments by name, so they are always an object. */
type NamedArguments = Readonly<Record<string, unknown>>;

export interface ToolDefinition<Args extends NamedArguments> {
  readonly name: string;
  readonly description: string;
  /** An object schema, such as `z.object({ … })`. */
  readonly parameters: z.ZodType<Args>;
  /** Whether its only argument is a text named `input`: some models then pass it as plain text instead of JSON. */
  readonly freeform?: boolean;
  /** Defaults to false: calls of a tool that is not declared read-only need approval. */
  readonly readOnly?: boolean;
  /** Defaults to true: false for a tool whose output contains nothing from outside the project. */
  readonly readsOutside?: boolean;
  command?(args: Args, scope: ToolScope): ReturnType<Tool["command"]>;
  /** A string result counts as successful output. */
  run(args: Args, context: ToolContext): Promise<ToolOutput | string> | ToolOutput | string;
}

/** Creates a tool from a schema and a function. */
export function defineTool<Args extends NamedArguments>(definition: ToolDefinition<Args>): Tool<Args> {
  const { name, description, parameters, freeform = false, readOnly = false, readsOutside = true } = definition;
  if (!ToolSpec.shape.name.safeParse(name).success) {
    throw new InvalidInputError("a tool's name must have 1 to 64 letters, digits, _ and -");
  }
  if (!isObjectSchema(parameters)) {
    throw new InvalidInputError(`tool ${name}: parameters must be an object schema of zod 4, such as z.object({ … })`);
  }
  return {
    name,
    description,
    parameters,
    freeform,
    readOnly,
    readsOutside,
    command: async (args, scope) =>
      (await definition.command?.(args, scope)) ?? { argv: [name, JSON.stringify(args)], cwd: scope.cwd },
    run: async (args, context) => {
      const output = await definition.run(args, context);
      return typeof output === "string" ? { content: output, success: true } : output;
    },
  };
}

function isObjectSchema(parameters: unknown): boolean {
  if (!isRecord(parameters) || !("_zod" in parameters)) return false;
  const schema = parameters as unknown as z.ZodType;
  // Nearly every schema is a plain object; only others are converted to find out what they describe.
  if (schema.def.type === "object") return true;
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }).type === "object";
}

/** The description of a tool that is sent to a model. */
export function toolSpec({ name, description, parameters, freeform }: Tool): ToolSpec {
  if (!isRecord(parameters) || !("_zod" in parameters)) throw new Error("they are not a zod 4 schema");
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  return { name, description, parameters: schema, ...(freeform === true ? { freeform } : {}) };
}
