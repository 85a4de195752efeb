import { expect } from "vitest";
import { parseArguments } from "../../src/cli/arguments/parse-arguments.js";
import { jsonOutputs } from "../../src/cli/arguments/json-output.js";

/** Checks that the output of a command with --json has a documented form. */
export function expectDocumentedOutput(args: readonly string[], stdout: string): void {
  const { name, flags } = parseArguments(args);
  if (!flags.json || flags.help || flags.version || stdout === "") return;
  const { prints, forms } = jsonOutputs[name];
  const outputs = prints === "lines" ? stdout.split("\n").filter(Boolean) : [stdout];
  for (const output of outputs) {
    const value: unknown = JSON.parse(output);
    const results = forms.map(({ when, schema }) => ({ when, error: schema.safeParse(value).error?.message }));
    if (results.every(({ error }) => error !== undefined)) expect({ args, output, results }).toBe("documented");
  }
}
