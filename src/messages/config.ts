import * as z from "zod";
import { CompactionConfig, CompactionThresholds } from "./compaction.js";
import { McpServerEntries } from "./mcp-config.js";
import { ApprovalPolicy, SandboxMode } from "./policy.js";

export const ProviderName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "a provider is a lower-case word");
export const WireApi = z.enum(["responses", "chat", "messages"]);
export type WireApi = z.infer<typeof WireApi>;

export const BaseUrl = z
  .string()
  .regex(
    /^https?:\/\/(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?(?:\/[!-~]*)?$/,
    "expected an http or https URL",
  );

/** The key is sent in a header, so it must not contain blanks or control characters. */
export const ApiKey = z.string().regex(/^[!-~]{1,1000}$/, "a key is one word of visible ASCII characters");

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

/** A smaller limit would not fit a single item. */
const byteLimit = z.number().int().min(1_024);
const mebibyte = 1024 * 1024;

/** Limits at which a turn is stopped although the model would continue. */
export const TurnLimits = z.strictObject({
  /** The number of model calls. */
  steps: z.number().int().positive().optional(),
  /** Working time in seconds; waiting for a person does not count. */
  seconds: z.number().positive().max(1_000_000).optional(),
  /** Tokens sent and received, as counted by the provider. */
  tokens: z.number().int().positive().optional(),
  /**
   * Text, reasoning and items of one model answer, summaries included. A longer answer would not fit in one rollout
   * line.
   */
  answerBytes: byteLimit.max(128 * mebibyte).optional(),
  /** The same for all answers of a turn together. */
  turnBytes: byteLimit.max(256 * mebibyte).optional(),
  /** The time an approval request waits for its answer, in seconds. */
  approvalSeconds: z.number().positive().max(1_000_000).optional(),
  /**
   * The number of times the same call with the same arguments may fail without a successful call between; 0 for no
   * limit.
   */
  identicalFailures: z.number().int().min(0).max(1_000_000).optional(),
});
export type TurnLimits = z.infer<typeof TurnLimits>;

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
  const error = `expected a whole number from 0 to ${max}, or false; 0 and false are without a bound`;
  return z.union([z.literal(false), z.number({ error }).int({ error }).min(0, { error }).max(max, { error })], {
    error,
  });
}

const maxPromptChars = 100_000;
const prompt = z.string().min(1).max(maxPromptChars);

/** Whether knowledge about a project is saved and added to system prompts, and how many tokens it may take there. */
export const KnowledgeConfig = z.strictObject({
  enabled: z.boolean().optional(),
  injectionBudget: z.number().int().nonnegative().max(1_000_000).optional(),
});
export type KnowledgeConfig = z.infer<typeof KnowledgeConfig>;

/** The configuration. Every setting is optional: an absent one has a default or is detected. */
export const Config = z.strictObject({
  provider: ProviderName.optional(),
  api: WireApi.optional(),
  model: z.string().min(1).max(200).optional(),
  /** The address of the provider, instead of its default. */
  baseUrl: BaseUrl.optional(),
  providers: z.record(ProviderName, ProviderEntry).optional(),
  /** Models by name: those cody does not know, and overrides for those it does. */
  models: z.record(z.string().min(1).max(200), ModelEntry).optional(),
  auth: AuthMethod.optional(),
  logins: z.strictObject({ chatgpt: LoginEntry.optional(), claude: LoginEntry.optional() }).optional(),
  /** Request limits by provider. */
  limits: z.record(ProviderName, RequestLimits).optional(),
  approvalPolicy: ApprovalPolicy.optional(),
  sandbox: SandboxMode.optional(),
  turnLimits: TurnLimits.optional(),
  compaction: CompactionConfig.optional(),
  /** The size of the model's window in tokens: for your own server, or a model whose window cody does not know. */
  contextWindow: z.number().int().min(1000).max(100_000_000).optional(),
  /** Replaces cody's own base prompt. */
  systemPrompt: prompt.optional(),
  /** Added to the prompt besides the instruction files. */
  instructions: z.union([prompt, z.array(prompt).max(100)]).optional(),
  knowledge: KnowledgeConfig.optional(),
  /** MCP servers by name, in the format of Codex's configuration. */
  mcp_servers: McpServerEntries.optional(),
  /** Names of environment variables that are passed to tools besides the harmless ones. */
  toolEnv: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .max(100)
    .optional(),
  /** Texts that are redacted before anything is written to disk, besides known keys. */
  redaction: z
    .strictObject({
      /** Names whose values are redacted: `api_key` for `api_key=…`. */
      sensitivePatterns: z.array(SensitivePattern).max(100).optional(),
      /** Whether text that only looks like a key is redacted. */
      shapes: z.boolean().optional(),
    })
    .optional(),
  history: z
    .strictObject({
      /** The number of newest turns sent to the model; the rollout keeps all of them. */
      maxSize: z.number().int().positive().optional(),
    })
    .optional(),
  persistence: z
    .strictObject({
      enabled: z.boolean().optional(),
      /** For new conversations only; existing ones are read in any layout. */
      layout: Layout.optional(),
      directory: z.string().min(1).optional(),
      /** The age at which conversations are announced for clean-up and then removed; 0 or false disables it. */
      retentionDays: boundOrNone(36_500).optional(),
      /** The number of conversations kept per project; 0 or false keeps all. */
      maxConversationsPerProject: boundOrNone(10_000_000).optional(),
      /** No new turn begins in a conversation whose file is larger. */
      maxFileMegabytes: z.number().positive().max(1_000_000).optional(),
      /**
       * The size limit for outputs too long for the model, which are stored beside the conversation's file; 0 stores
       * none.
       */
      maxBlobMegabytes: z.number().nonnegative().max(1_000_000).optional(),
    })
    .optional(),
  export: z
    .strictObject({
      /** The folder for exported conversations; defaults to the user's downloads. */
      directory: z.string().min(1).optional(),
    })
    .optional(),
});
export type Config = z.infer<typeof Config>;
