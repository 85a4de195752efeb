import * as z from "zod";
import { CompactionConfig } from "./compaction.js";
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
});
export type ProviderEntry = z.infer<typeof ProviderEntry>;

/** How cody proves who it is to a provider. */
export const AuthMethod = z.enum(["openai-api-key", "anthropic-api-key", "chatgpt-oauth", "claude-oauth"]);
export type AuthMethod = z.infer<typeof AuthMethod>;

/** How files of conversations are named and sorted into folders. */
export const Layout = z.enum(["cody", "codex", "project"]);
export type Layout = z.infer<typeof Layout>;

/** Where a turn is stopped although the model would go on. */
export const TurnLimits = z.strictObject({
  /** Model calls. */
  steps: z.number().int().positive().optional(),
  /** Working time in seconds; waiting for a person does not count. */
  seconds: z.number().positive().max(1_000_000).optional(),
  /** Tokens sent and received, as the provider counts them. */
  tokens: z.number().int().positive().optional(),
  /** How long an approval request waits for its answer, in seconds. */
  approvalSeconds: z.number().positive().max(1_000_000).optional(),
});
export type TurnLimits = z.infer<typeof TurnLimits>;

/** What can be configured, all of it optional: what is not said has a default or is found out. */
export const Config = z.strictObject({
  provider: ProviderName.optional(),
  api: WireApi.optional(),
  model: z.string().min(1).max(200).optional(),
  /** Where the provider is reached, instead of its own address. */
  baseUrl: BaseUrl.optional(),
  providers: z.record(ProviderName, ProviderEntry).optional(),
  auth: AuthMethod.optional(),
  approvalPolicy: ApprovalPolicy.optional(),
  sandbox: SandboxMode.optional(),
  turnLimits: TurnLimits.optional(),
  compaction: CompactionConfig.optional(),
  /** How many tokens the model takes, where ours is not the truth: a server of your own, or a model we do not know. */
  contextWindow: z.number().int().min(1000).max(100_000_000).optional(),
  /** Environment variables tools get besides the harmless ones, by name. */
  toolEnv: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .max(100)
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
      retentionDays: z.union([z.literal(false), z.number().int().min(0).max(36_500)]).optional(),
      /** How many of one project are kept; 0 or false: all. */
      maxConversationsPerProject: z.union([z.literal(false), z.number().int().min(0).max(10_000_000)]).optional(),
      /** In a conversation whose file is longer no new turn begins. */
      maxFileMegabytes: z.number().positive().max(1_000_000).optional(),
    })
    .optional(),
});
export type Config = z.infer<typeof Config>;
