import { resolve } from "node:path";
import { InvalidInputError } from "../../../base/errors.js";
import { mergeChoice } from "../../../config/providers/choose-provider.js";
import { resolveProvider, type ResolvedProvider } from "../../../config/providers/resolve-provider.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import type { Settings } from "../../../messages/actors/conversation.js";
import { WireApi, type Config } from "../../../messages/settings/config.js";
import type { ConversationConfig } from "../../../messages/settings/conversation-config.js";
import type { OutputSchema } from "../../../messages/output-schema.js";
import type { Op } from "../../../messages/submission.js";
import { ApprovalPolicy, SandboxMode, type SandboxPolicy } from "../../../messages/tools/policy.js";
import { sandboxPolicy } from "../../../messages/tools/policy.js";
import type { TurnContext } from "../../../messages/turn-context.js";
import type { ConversationState } from "./state.js";

/** Strictest first. */
const sandboxesByStrictness = SandboxMode.options;

const approvalsByQuestions: readonly ApprovalPolicy[] = ["untrusted", "on-request", "on-failure", "never"];

/** Outside of full access, the policy `never` denies instead of asking, so it is the strictest. */
const approvalsByRefusals: readonly ApprovalPolicy[] = ["never", "untrusted", "on-request", "on-failure"];

/** Recorded providers that are not reused: the fallback, an injected client, and an unknown one. */
const placeholders: ReadonlySet<string> = new Set(["offline", "client", "unknown"]);

export type { Settings };

export type SettingsOp =
  Extract<Op, { type: "override_turn_context" }> | Omit<Extract<Op, { type: "user_turn" }>, "items">;

export const onFailureNotice = "The approval policy on-failure is deprecated; on-request is used instead.";

function currentPolicyName(policy: ApprovalPolicy): ApprovalPolicy {
  return policy === "on-failure" ? "on-request" : policy;
}

/** Returns the settings with a submission's changes. */
export function applySettingsOp(settings: Settings, op: SettingsOp): Settings {
  return {
    ...settings,
    cwd: op.cwd === undefined ? settings.cwd : resolve(settings.cwd, op.cwd),
    approvalPolicy: currentPolicyName(op.approval_policy ?? settings.approvalPolicy),
    sandbox: op.sandbox_policy === undefined ? settings.sandbox : sandboxMode(op.sandbox_policy),
    model: op.model ?? settings.model,
    effort: op.effort === undefined ? settings.effort : op.effort,
    summary: op.summary ?? settings.summary,
  };
}

/** Without a turn id, the context holds for future turns. */
export function toTurnContext(settings: Settings, turnId?: string, outputSchema?: OutputSchema): TurnContext {
  return {
    ...(turnId === undefined ? {} : { turn_id: turnId }),
    cwd: settings.cwd,
    approval_policy: settings.approvalPolicy,
    sandbox_policy: sandboxPolicy(settings.sandbox),
    model: settings.model,
    ...(settings.effort === null ? {} : { effort: settings.effort }),
    summary: settings.summary,
    ...(outputSchema === undefined ? {} : { final_output_json_schema: outputSchema }),
    provider: settings.provider,
    ...(settings.api === undefined ? {} : { api: settings.api }),
    ...(settings.isApiChosen === true ? { api_chosen: true } : {}),
  };
}

/** An unknown policy grants the fewest rights. */
function sandboxMode(policy: TurnContext["sandbox_policy"]): SandboxMode {
  const name = "type" in policy ? policy.type : policy.mode;
  return name === "workspace-write" || name === "danger-full-access" ? name : "read-only";
}

export interface ResolvedSettings {
  readonly settings: Settings;
  /** A notice for the user, for example that no key was found. */
  readonly notice: string | undefined;
}

interface ResolveInput {
  readonly config: Config;
  /** The settings recorded in the rollout; overridden by the ones requested now. */
  readonly recorded?: ConversationConfig;
  readonly conversation: ConversationConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The providers in this process; undefined when an injected client replaces all providers. */
  readonly inProcess: ReadonlySet<string> | undefined;
  readonly cwd: string;
  /** `other` for commands that must not fall back to the offline model; `chat` by default. */
  readonly command?: "chat" | "other";
}

/** Resolves the settings that a conversation starts with. */
export function resolveSettings(input: ResolveInput): ResolvedSettings {
  const { config, recorded = {}, conversation } = input;
  const { notice, ...found } = chooseProvider(input);
  const present = {
    approvalPolicy: effectiveSetting(config, "approvalPolicy"),
    sandbox: effectiveSetting(config, "sandbox.mode"),
  };
  const requested = {
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
      requested.approvalPolicy === "on-failure" ? onFailureNotice : undefined,
      stricterPoliciesNotice(policies, requested),
    ]),
  };
}

function stricterPoliciesNotice({ approvalPolicy, sandbox }: Policies, requested: Policies): string | undefined {
  const stricter = [
    ...(approvalPolicy === currentPolicyName(requested.approvalPolicy) ? [] : [`--approval-policy ${approvalPolicy}`]),
    ...(sandbox === requested.sandbox ? [] : [`--sandbox ${sandbox}`]),
  ];
  if (stricter.length === 0) return undefined;
  return `This conversation was recorded with stricter settings than configured; they still apply: ${stricter.join(" ")}`;
}

type FoundProvider = Omit<Extract<ResolvedProvider, { ok: true }>, "ok"> & Pick<Settings, "isApiChosen">;

function chooseProvider({
  config,
  recorded = {},
  conversation,
  env,
  inProcess,
  command = "chat",
}: ResolveInput): FoundProvider {
  const { providers, models } = config;
  const auth = conversation.auth ?? config.auth;
  const choice = mergeChoice([config, recorded, conversation], { env, providers, auth }, models);
  if (inProcess === undefined) return { provider: choice.provider ?? "client", model: choice.model ?? "client" };
  const { withoutKey } = conversation;
  const providerConfig = { ...choice, providers, models, auth };
  const found = resolveProvider({ config: providerConfig, env, inProcess, withoutKey, command });
  if (!found.ok) throw new InvalidInputError(found.message);
  const { ok: _, ...rest } = found;
  // A recorded API choice holds only for the recorded provider.
  const chosen = conversation.api ?? (rest.provider === recorded.provider ? recorded.api : undefined);
  return rest.api !== undefined && rest.api === chosen ? { ...rest, isApiChosen: true } : rest;
}

/** The notices as one text; undefined if there are none. */
export function joinNotices(notices: readonly (string | undefined)[]): string | undefined {
  return notices.filter((notice) => notice !== undefined).join("\n") || undefined;
}

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

/** The approval policy and the sandbox, which only make sense together. */
export interface Policies {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
}

/** Policies of which some or all may be unspecified. */
type PartialPolicies = { readonly [K in keyof Policies]?: Policies[K] | undefined };

interface PolicySources {
  /** The configured policies. */
  readonly present: Policies;
  /** The policies recorded in the rollout. */
  readonly recorded: PartialPolicies;
  /** The policies requested now for this conversation. */
  readonly asked: PartialPolicies;
}

/** Returns the policies of a resumed conversation: the requested ones, else the stricter of recorded and configured. */
export function resolvePolicies({ present, recorded, asked }: PolicySources): Policies {
  const sandbox = asked.sandbox ?? stricterOf(sandboxesByStrictness, present.sandbox, recorded.sandbox);
  const now = { ...present, sandbox: asked.sandbox ?? present.sandbox };
  const known = [now, recorded].flatMap((policies) => comparableApproval(policies) ?? []);
  const [first = present.approvalPolicy, second] = known.map(currentPolicyName);
  const order = sandbox === "danger-full-access" ? approvalsByQuestions : approvalsByRefusals;
  return { approvalPolicy: currentPolicyName(asked.approvalPolicy ?? stricterOf(order, first, second)), sandbox };
}

/** A user who ran everything without approval did not want everything to be denied. */
function comparableApproval({ approvalPolicy, sandbox }: PartialPolicies): ApprovalPolicy | undefined {
  return approvalPolicy === "never" && sandbox === "danger-full-access" ? undefined : approvalPolicy;
}

function stricterOf<T>(order: readonly T[], present: T, recorded: T | undefined): T {
  return recorded !== undefined && order.indexOf(recorded) < order.indexOf(present) ? recorded : present;
}
