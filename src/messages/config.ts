import * as z from "zod";
import { ApprovalPolicy, SandboxMode } from "./policy.js";

export const ProviderName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "a provider is a lower-case word");
export const WireApi = z.enum(["responses", "chat", "messages"]);
export type WireApi = z.infer<typeof WireApi>;

/** How cody proves who it is to a provider. */
export const AuthMethod = z.enum(["openai-api-key", "anthropic-api-key", "chatgpt-oauth", "claude-oauth"]);
export type AuthMethod = z.infer<typeof AuthMethod>;

/** What can be configured, all of it optional: what is not said has a default or is found out. */
export const Config = z.strictObject({
  provider: ProviderName.optional(),
  api: WireApi.optional(),
  model: z.string().min(1).max(200).optional(),
  auth: AuthMethod.optional(),
  approvalPolicy: ApprovalPolicy.optional(),
  sandbox: SandboxMode.optional(),
  persistence: z.strictObject({ enabled: z.boolean().optional(), directory: z.string().min(1).optional() }).optional(),
});
export type Config = z.infer<typeof Config>;
