import { resolve } from "node:path";
import { mergeChoice } from "../../../config/providers/provider-choice.js";
import { resolveProvider, type ResolvedProvider } from "../../../config/providers/resolve-provider.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import { type Config, WireApi } from "../../../messages/config.js";
import type { ConversationConfig } from "../../../messages/conversation-config.js";
import { InvalidInputError } from "../../../base/errors.js";
import { ApprovalPolicy, SandboxMode, type SandboxPolicy } from "../../../messages/tools/policy.js";
import type { TurnContext } from "../../../messages/turn-context.js";
import { resolvePolicies, type Policies, type PartialPolicies } from "./effective-policies.js";
import { onFailureNotice, currentPolicyName, type Settings } from "../state/settings.js";
import type { ConversationState } from "../state/state.js";

export interface ResolvedSettings {
  readonly settings: Settings;
  /** A notice for the user, for example that no key was found. */
  readonly notice: string | undefined;
}

export interface ResolveInput {
  readonly config: Config;
  /** The settings recorded in the rollout; overridden by the ones requested now. */
  readonly recorded?: ConversationConfig;
  readonly conversation: ConversationConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The providers in this process; undefined when an injected client replaces all providers. */
  readonly inProcess: ReadonlySet<string> | undefined;
  readonly cwd: string;
}

/** Resolves the settings that a conversation starts with. */
export function resolveSettings(input: ResolveInput): ResolvedSettings {
  const { config, recorded = {}, conversation } = input;
  const { notice, ...found } = chooseProvider(input);
  const present = {
    approvalPolicy: effectiveSetting(config, "approvalPolicy"),
    sandbox: effectiveSetting(config, "sandbox"),
  };
  const wanted = {
    approvalPolicy: conversation.approvalPolicy ?? present.approvalPolicy,
    sandbox: conversation.sandbox ?? present.sandbox,
  };
  const policies = resolvePolicies({ present, recorded, asked: conversation });
  return {
    settings: {
      ...found,
      // Absolute, because it is recorded in the file and read by processes in other folders.
      cwd: resolve(input.cwd, conversation.cwd ?? ""),
      ...policies,
      effort: conversation.effort ?? recorded.effort ?? null,
      summary: "auto",
    },
    notice: joinNotices([
      notice,
      wanted.approvalPolicy === "on-failure" ? onFailureNotice : undefined,
      stricterPoliciesNotice(policies, wanted),
    ]),
  };
}

function stricterPoliciesNotice({ approvalPolicy, sandbox }: Policies, wanted: Policies): string | undefined {
  const held = [
    ...(approvalPolicy === currentPolicyName(wanted.approvalPolicy) ? [] : [`--approval-policy ${approvalPolicy}`]),
    ...(sandbox === wanted.sandbox ? [] : [`--sandbox ${sandbox}`]),
  ];
  if (held.length === 0) return undefined;
  return `This conversation was recorded with stricter settings than configured; they still apply: ${held.join(" ")}`;
}

type FoundProvider = Omit<Extract<ResolvedProvider, { ok: true }>, "ok"> & Pick<Settings, "isApiChosen">;

function chooseProvider({ config, recorded = {}, conversation, env, inProcess }: ResolveInput): FoundProvider {
  const { providers, models } = config;
  const auth = conversation.auth ?? config.auth;
  const choice = mergeChoice([config, recorded, conversation], { env, providers, auth }, models);
  if (inProcess === undefined) return { provider: choice.provider ?? "client", model: choice.model ?? "client" };
  const { withoutKey } = conversation;
  const said = { ...choice, providers, models, auth };
  const found = resolveProvider({ config: said, env, inProcess, withoutKey, command: "chat" });
  if (!found.ok) throw new InvalidInputError(found.message);
  const { ok: _, ...rest } = found;
  // A recorded API choice holds only for the recorded provider.
  const chosen = conversation.api ?? (rest.provider === recorded.provider ? recorded.api : undefined);
  return rest.api !== undefined && rest.api === chosen ? { ...rest, isApiChosen: true } : rest;
}

function joinNotices(notices: readonly (string | undefined)[]): string | undefined {
  return notices.filter((notice) => notice !== undefined).join("\n") || undefined;
}

/** Recorded providers that are not reused: the fallback, an injected client, and an unknown one. */
const placeholders: ReadonlySet<string> = new Set(["offline", "client", "unknown"]);

/**
 * Returns the settings recorded in a rollout. The offline provider is left out: a conversation that fell back to it may
 * have a real one by now. Recorded policies apply only if they are stricter: a file must not extend what is allowed.
 */
export function recordedConfig(state: ConversationState): ConversationConfig {
  // Taken together: a turn without a provider was played by Codex, with a model that only Codex may know.
  const { provider, model } = state.turnContext?.provider === undefined ? (state.metadata ?? {}) : state.turnContext;
  const cwd = state.turnContext?.cwd ?? state.meta?.cwd;
  const known = provider !== undefined && !placeholders.has(provider);
  const api = state.turnContext?.api_chosen === true ? WireApi.safeParse(state.turnContext.api).data : undefined;
  return {
    ...(known ? { provider } : {}),
    ...(known && model !== undefined ? { model } : {}),
    ...(known && api !== undefined ? { api } : {}),
    // A root folder marks a conversation converted from turns, which record neither a folder nor policies.
    ...(cwd === undefined || resolve(cwd) === "/" ? {} : { cwd, ...recordedPolicies(state.turnContext) }),
  };
}

function recordedPolicies(context: TurnContext | undefined): PartialPolicies {
  const approvalPolicy = ApprovalPolicy.safeParse(context?.approval_policy).data;
  const sandbox = recordedSandbox(context?.sandbox_policy);
  return {
    ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}

function recordedSandbox(policy: SandboxPolicy | undefined): SandboxMode | undefined {
  if (policy === undefined) return undefined;
  return SandboxMode.safeParse("type" in policy ? policy.type : policy.mode).data;
}
