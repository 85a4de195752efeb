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

/** It stands in a header, so it has no blanks and no control characters. */
export const ApiKey = z.string().regex(/^[!-~]{1,1000}$/, "a key is one word of visible ASCII characters");

/** What is said about one provider, whether it is the chosen one or not. */
export const ProviderEntry = z.strictObject({
  /** Counts before the one in the environment. */
  apiKey: ApiKey.optional(),
  /** Counts before the one in the environment; `baseUrl` of the whole configuration counts before it. */
  baseUrl: BaseUrl.optional(),
  /** The key is in the keyring of the operating system, which is asked when it is needed. */
  keyring: z.boolean().optional(),
});
export type ProviderEntry = z.infer<typeof ProviderEntry>;

const price = z.number().nonnegative().max(1_000_000);

/** What is said about one model, whether cody knows it or not. */
export const ModelEntry = z.strictObject({
  provider: ProviderName.optional(),
  /** Counts before `contextWindow` of the whole configuration. */
  contextWindow: z.number().int().min(1000).max(100_000_000).optional(),
  maxOutput: z.number().int().positive().max(100_000_000).optional(),
  /** US dollars for a million tokens. */
  price: z.strictObject({ input: price, output: price, cachedInput: price.optional() }).optional(),
  abilities: z.array(z.enum(["reasoning", "images"])).optional(),
  /** Counts before the same settings in `compaction` of the whole configuration. */
  compaction: CompactionThresholds.optional(),
  /** Other names it may be asked for by. */
  aliases: z.array(z.string().min(1).max(200)).max(100).optional(),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

/** How cody proves who it is to a provider. */
export const AuthMethod = z.enum([
  "openai-api-key",
  "anthropic-api-key",
  "openrouter-api-key",
  "chatgpt-oauth",
  "claude-oauth",
]);
export type AuthMethod = z.infer<typeof AuthMethod>;

/** Tokens go there, so nobody on the way may read along. */
const TokenUrl = z
  .string()
  .regex(
    /^(?:https:\/\/[A-Za-z0-9.-]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(?:\/[!-~]*)?$/,
    "expected an https URL, or http on this machine",
  );

/** Who gives tokens out, where it is not the vendor of a login itself. */
export const LoginEntry = z.strictObject({
  /** Where a person logs in; for ChatGPT only. */
  issuer: TokenUrl.optional(),
  /** Where tokens are renewed; at the issuer unless it is said. */
  tokenUrl: TokenUrl.optional(),
  clientId: z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional(),
});
export type LoginEntry = z.infer<typeof LoginEntry>;

/** How files of conversations are named and sorted into folders. */
export const Layout = z.enum(["cody", "codex", "project"]);
export type Layout = z.infer<typeof Layout>;

/** Less would not fit one item. */
const byteLimit = z.number().int().min(1_024);
const mebibyte = 1024 * 1024;

/** Where a turn is stopped although the model would go on. */
export const TurnLimits = z.strictObject({
  /** Model calls. */
  steps: z.number().int().positive().optional(),
  /** Working time in seconds; waiting for a person does not count. */
  seconds: z.number().positive().max(1_000_000).optional(),
  /** Tokens sent and received, as the provider counts them. */
  tokens: z.number().int().positive().optional(),
  /** Text, reasoning and items of one answer of the model; a summary is an answer too. More would not fit a line. */
  answerBytes: byteLimit.max(128 * mebibyte).optional(),
  /** The same of all answers of a turn together. */
  turnBytes: byteLimit.max(256 * mebibyte).optional(),
  /** How long an approval request waits for its answer, in seconds. */
  approvalSeconds: z.number().positive().max(1_000_000).optional(),
  /** How often the same tool call with the same arguments may fail, with no successful call in between; 0 for no limit. */
  identicalFailures: z.number().int().min(0).max(1_000_000).optional(),
});
export type TurnLimits = z.infer<typeof TurnLimits>;

/** What all conversations of a process together may ask of a provider; what waits, waits its turn. */
export const RequestLimits = z.strictObject({
  /** Requests that are being answered at once. */
  concurrency: z.number().int().positive().max(1_000_000).optional(),
  requestsPerMinute: z.number().positive().max(1_000_000_000).optional(),
  tokensPerMinute: z.number().positive().max(1_000_000_000_000).optional(),
});
export type RequestLimits = z.infer<typeof RequestLimits>;
/** A name as it stands before a secret. Not an expression: one that takes for ever would stop every conversation. */
export const SensitivePattern = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_. -]{1,62}[A-Za-z0-9]$/,
    "expected a name of 3 to 64 letters, digits, _ - and . like api_key",
  );

/** A number of things to keep, or no bound at all. */
function boundOrNone(max: number) {
  const error = `expected a whole number from 0 to ${max}, or false; 0 and false are without a bound`;
  return z.union([z.literal(false), z.number({ error }).int({ error }).min(0, { error }).max(max, { error })], {
    error,
  });
}

const maxPromptChars = 100_000;
const prompt = z.string().min(1).max(maxPromptChars);

/** Whether what is learned in a project is saved and told again, and how many tokens it may have in the system prompt. */
export const KnowledgeConfig = z.strictObject({
  enabled: z.boolean().optional(),
  injectionBudget: z.number().int().nonnegative().max(1_000_000).optional(),
});
export type KnowledgeConfig = z.infer<typeof KnowledgeConfig>;

/** What can be configured, all of it optional: what is not said has a default or is found out. */
export const Config = z.strictObject({
  provider: ProviderName.optional(),
  api: WireApi.optional(),
  model: z.string().min(1).max(200).optional(),
  /** Where the provider is reached, instead of its own address. */
  baseUrl: BaseUrl.optional(),
  providers: z.record(ProviderName, ProviderEntry).optional(),
  /** Models by name: those cody does not know, and what is otherwise with those it does. */
  models: z.record(z.string().min(1).max(200), ModelEntry).optional(),
  auth: AuthMethod.optional(),
  logins: z.strictObject({ chatgpt: LoginEntry.optional(), claude: LoginEntry.optional() }).optional(),
  /** Limits of requests, by provider. */
  limits: z.record(ProviderName, RequestLimits).optional(),
  approvalPolicy: ApprovalPolicy.optional(),
  sandbox: SandboxMode.optional(),
  turnLimits: TurnLimits.optional(),
  compaction: CompactionConfig.optional(),
  /** How many tokens the model takes, where ours is not the truth: a server of your own, or a model we do not know. */
  contextWindow: z.number().int().min(1000).max(100_000_000).optional(),
  /** Takes the place of cody's own base prompt. */
  systemPrompt: prompt.optional(),
  /** Told to the model besides what instruction files say. */
  instructions: z.union([prompt, z.array(prompt).max(100)]).optional(),
  knowledge: KnowledgeConfig.optional(),
  /** MCP servers by name, in Codex's words. */
  mcp_servers: McpServerEntries.optional(),
  /** Environment variables tools get besides the harmless ones, by name. */
  toolEnv: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .max(100)
    .optional(),
  /** What is kept from the disk besides keys that are known. */
  redaction: z
    .strictObject({
      /** Names whose values are not written: `api_key` for `api_key=…`. */
      sensitivePatterns: z.array(SensitivePattern).max(100).optional(),
      /** Whether what only looks like a key is taken for one. */
      shapes: z.boolean().optional(),
    })
    .optional(),
  history: z
    .strictObject({
      /** How many of the newest turns the model sees; the rollout keeps all. */
      maxSize: z.number().int().positive().optional(),
    })
    .optional(),
  persistence: z
    .strictObject({
      enabled: z.boolean().optional(),
      /** For new conversations; those that are there are read in any. */
      layout: Layout.optional(),
      directory: z.string().min(1).optional(),
      /** How old conversations may become before they are announced and cleaned up; 0 or false: as old as they like. */
      retentionDays: boundOrNone(36_500).optional(),
      /** How many of one project are kept; 0 or false: all. */
      maxConversationsPerProject: boundOrNone(10_000_000).optional(),
      /** In a conversation whose file is longer no new turn begins. */
      maxFileMegabytes: z.number().positive().max(1_000_000).optional(),
      /** How much is kept beside a conversation's file of outputs that were too long for the model; 0 for nothing. */
      maxBlobMegabytes: z.number().nonnegative().max(1_000_000).optional(),
    })
    .optional(),
  export: z
    .strictObject({
      /** Where exported conversations go; the user's downloads by default. */
      directory: z.string().min(1).optional(),
    })
    .optional(),
});
export type Config = z.infer<typeof Config>;
