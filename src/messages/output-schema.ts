import * as z from "zod";
import { schemaProblem } from "./schema-problem.js";

/** So much of a schema goes out with every request of its turn. */
export const maxSchemaChars = 100_000;

/** A JSON Schema the last answer of a turn has to fit, of the kind all three wire APIs can hold a model to. */
export const OutputSchema = z
  .record(z.string(), z.unknown(), "expected a JSON Schema, which is an object")
  .superRefine((schema, context) => {
    const problem = schemaProblem(schema) ?? sizeProblem(schema);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem.text, path: [...problem.path] });
  });
export type OutputSchema = z.infer<typeof OutputSchema>;

function sizeProblem(schema: Readonly<Record<string, unknown>>): ReturnType<typeof schemaProblem> {
  try {
    if (JSON.stringify(schema).length <= maxSchemaChars) return undefined;
  } catch {
    return { path: [], text: "cannot be written as JSON" };
  }
  return { path: [], text: `a schema may have at most ${maxSchemaChars} characters` };
}
