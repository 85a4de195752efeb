import * as z from "zod";
import { CompactionThresholds, StrategyName } from "../compaction.js";
import { HooksConfig } from "../hooks.js";
import { McpServerEntries } from "./mcp-config.js";
import { ApprovalPolicy, SandboxMode } from "../tools/policy.js";

export const ProviderName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "a provider's name must be a lower-case word");
export const WireApi = z.enum(["responses", "chat", "messages"]);
export type WireApi = z.infer<typeof WireApi>;

export const BaseUrl = z
  .string()
  .regex(
    /^https?:\/\/(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?(?:\/[!-~]*)?$/,
    "expected an http or https URL",
  );

/** The key is sent in a header, so it must not contain blanks or control characters. */
export const ApiKey = z.string().regex(/^[!-~]{1,1000}$/, "a key must be one word of visible ASCII characters");

/** Settings of one provider, whether it is selected or not. */
export const ProviderEntry = z.strictObject({
  /** Takes precedence over the environment variable. */
  apiKey: ApiKey.optional(),
  /** Takes precedence over the environment variable; the top-level `baseUrl` takes precedence over this. */
  baseUrl: BaseUrl.optional(),
  /** The key is stored in the operating system's keyring, which is read when the key is needed. */
  keyring: z.boolean().optional(),
});
export type ProviderEntry = z.infer<typeof ProviderEntry>;

const price = z.number().nonnegative().max(1_000_000);

/** Settings of one model, whether cody knows it or not. */
export const ModelEntry = z.strictObject({
  provider: ProviderName.optional(),
  /** Takes precedence over the top-level `contextWindow`. */
  contextWindow: z.number().int().min(1000).max(100_000_000).optional(),
  maxOutput: z.number().int().positive().max(100_000_000).optional(),
  /** US dollars per million tokens. */
  price: z.strictObject({ input: price, output: price, cachedInput: price.optional() }).optional(),
  abilities: z.array(z.enum(["reasoning", "images"])).optional(),
  /** Takes precedence over the same settings in the top-level `compaction`. */
  compaction: CompactionThresholds.optional(),
  /** Other names by which the model can be selected. */
  aliases: z.array(z.string().min(1).max(200)).max(100).optional(),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

/** The ways cody can authenticate to a provider. */
export const AuthMethod = z.enum([
  "openai-api-key",
  "anthropic-api-key",
  "openrouter-api-key",
  "chatgpt-oauth",
  "claude-oauth",
]);
export type AuthMethod = z.infer<typeof AuthMethod>;

/** Tokens are sent there, so the connection must be encrypted or stay on this machine. */
const TokenUrl = z
  .string()
  .regex(
    /^(?:https:\/\/[A-Za-z0-9.-]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(?:\/[!-~]*)?$/,
    "expected an https URL, or http on this machine",
  );

/** The OAuth server of a login, if it is not the vendor's own. */
export const LoginEntry = z.strictObject({
  /** The address where a person logs in; for ChatGPT only. */
  issuer: TokenUrl.optional(),
  /** The address where tokens are refreshed; defaults to one at the issuer. */
  tokenUrl: TokenUrl.optional(),
  clientId: z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional(),
});
export type LoginEntry = z.infer<typeof LoginEntry>;

/** How conversation files are named and sorted into folders. */
export const Layout = z.enum(["cody", "codex", "project"]);
export type Layout = z.infer<typeof Layout>;

/**
 * Limits on the requests that all conversations of a process together send to a provider. Requests above them are
 * queued.
 */
export const RequestLimits = z.strictObject({
  /** The number of requests in flight at once. */
  concurrency: z.number().int().positive().max(1_000_000).optional(),
  requestsPerMinute: z.number().positive().max(1_000_000_000).optional(),
  tokensPerMinute: z.number().positive().max(1_000_000_000_000).optional(),
});
export type RequestLimits = z.infer<typeof RequestLimits>;

/** The name of a secret's field. Not a regular expression, because a slow one would block every conversation. */
export const SensitivePattern = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_. -]{1,62}[A-Za-z0-9]$/,
    "expected a name of 3 to 64 letters, digits, _ - and . like api_key",
  );

/** The number of things to keep, or no bound. */
function boundOrNone(max: number) {
  const error = `expected a whole number from 0 to ${max}, or false; 0 and false mean no limit`;
  return z.union([z.literal(false), z.number({ error }).int({ error }).min(0, { error }).max(max, { error })], {
    error,
  });
}

const prompt = z.string().min(1).max(100_000);
const positiveInteger = z.number().int().positive();

/** The schemas and builders that the rows of the settings table use. */
export const schemas = {
  ApprovalPolicy,
  AuthMethod,
  BaseUrl,
  CompactionThresholds,
  HooksConfig,
  Layout,
  LoginEntry,
  McpServerEntries,
  ModelEntry,
  ProviderEntry,
  ProviderName,
  RequestLimits,
  SandboxMode,
  SensitivePattern,
  StrategyName,
  WireApi,
  array: z.array,
  boolean: z.boolean(),
  boundOrNone,
  /** A smaller limit would not fit a single item. */
  byteLimit: z.number().int().min(1_024),
  enum: z.enum,
  modelName: z.string().min(1).max(200),
  number: z.number,
  path: z.string().min(1),
  positiveInteger,
  prompt,
  record: z.record,
  strictObject: z.strictObject,
  string: z.string,
  tokens: positiveInteger,
  union: z.union,
  /** A folder as it is written; `~` is the user's home. */
  writableRoot: z.string().regex(/^(?:\/|~\/)[^\0]+$/, "expected a path that starts with / or ~/, and not / itself"),
  variableName: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
} as const;
export type Schemas = typeof schemas;
