import * as z from "zod";
import { ArgumentText } from "../argument-text.js";

export const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;

const Program = z
  .array(ArgumentText)
  .min(1)
  .refine(([program = ""]) => program !== "" && !program.startsWith("-"), "must start with the name of a program");

/** Uses the argument names of Codex. */
export const ShellArguments = z.strictObject({
  command: z.union([ArgumentText.min(1), Program]).describe("A script for sh, or a program and its arguments"),
  workdir: ArgumentText.optional().describe("The folder to run in, relative to the working folder"),
  timeout_ms: z
    .int()
    .min(1)
    .max(maxTimeoutMs)
    .optional()
    .describe(`Timeout in milliseconds; ${defaultTimeoutMs} by default`),
});
export type ShellArguments = z.infer<typeof ShellArguments>;
