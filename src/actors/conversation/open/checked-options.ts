import * as z from "zod";
import { Config } from "../../../messages/config.js";
import { isRecord } from "../../../base/is-record.js";
import { check } from "../../../base/parse.js";
import type { ManagerOptions } from "./manager-options.js";
import { StartSource } from "../../../messages/turn-context.js";

/** Validates the options before they are used and returns them unchanged. */
export function validateOptions(options: ManagerOptions): ManagerOptions {
  check(Options, options, "manager");
  return options;
}

const amount = z.custom((value) => typeof value === "number" && value >= 0, "must be 0 or more");
const callback = z.custom((value) => typeof value === "function", "must be a function");
const table = z.custom(isRecord, "must be an object");

const shape = {
  home: z.string().optional(),
  cwd: z.string().optional(),
  // Validated by its own schema, which also knows its alternative names.
  config: z.unknown().optional(),
  env: table.optional(),
  client: withMethods("sendMessage").optional(),
  recorder: withMethods("appendTurn", "readRollout", "list").optional(),
  tokenizer: withMethods("countTokens").optional(),
  compactionStrategies: z.array(withMethods("plan")).optional(),
  providers: z.array(withMethods("stream")).optional(),
  tools: z.array(withMethods("command", "run")).optional(),
  retry: z.strictObject({ maxRetries: amount, baseDelayMs: amount, maxDelayMs: amount }).optional(),
  outbox: table.optional(),
  now: callback.optional(),
  log: callback.optional(),
  source: StartSource.optional(),
} satisfies Record<keyof ManagerOptions, z.ZodType>;

const Options = z.strictObject(shape, {
  error: ({ code, keys }) => {
    const setting = code === "unrecognized_keys" && keys.find((key) => key in Config.shape);
    return setting ? `${setting} is a setting: pass it in config` : undefined;
  },
});

/** An injected object may be of any class, so only the methods that will be called are checked. */
function withMethods(...names: readonly string[]): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    const missing = names.find((name) => typeof Object(value)[name] !== "function");
    if (missing !== undefined) context.addIssue(`must be an object with ${missing}()`);
  });
}
