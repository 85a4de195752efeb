import { resolve } from "node:path";
import { resolveProvider } from "../../config/resolve-provider.js";
import type { Config } from "../../messages/config.js";
import { InvalidInputError } from "../../messages/errors.js";
import { onFailureNotice, presentPolicy, type Settings } from "./settings.js";
import type { ConversationState } from "./state.js";

/** What one conversation may say differently from the configuration. */
export interface ConversationConfig extends Omit<Config, "persistence"> {
  /** Kept verbatim; a conversation whose id is no UUID cannot be read by Codex. */
  readonly id?: string;
  readonly cwd?: string;
  readonly effort?: string;
}

export interface ResolvedSettings {
  readonly settings: Settings;
  /** Something the user should know, such as that no key was found. */
  readonly notice: string | undefined;
}

export interface ResolveInput {
  readonly config: Config;
  readonly conversation: ConversationConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The providers there are; undefined when an injected client answers for any. */
  readonly available: ReadonlySet<string> | undefined;
  readonly cwd: string;
}

/** The settings a conversation starts with. */
export function resolveSettings({ config, conversation, env, available, cwd }: ResolveInput): ResolvedSettings {
  const wanted: Config = { ...config, ...conversation };
  const found =
    available === undefined
      ? { provider: wanted.provider ?? "client", model: wanted.model ?? "client", notice: undefined }
      : resolved(wanted, env, available);
  return {
    settings: {
      provider: found.provider,
      model: found.model,
      cwd: conversation.cwd ?? cwd,
      approvalPolicy: presentPolicy(wanted.approvalPolicy ?? "on-request"),
      sandbox: wanted.sandbox ?? "workspace-write",
      effort: conversation.effort ?? null,
      summary: "auto",
    },
    notice: joined([found.notice, wanted.approvalPolicy === "on-failure" ? onFailureNotice : undefined]),
  };
}

function joined(notices: readonly (string | undefined)[]): string | undefined {
  return notices.filter((notice) => notice !== undefined).join("\n") || undefined;
}

/** Providers that need not be there again: a fallback, an injected client, a file that does not say. */
const placeholders: ReadonlySet<string> = new Set(["offline", "client", "unknown"]);

/**
 * What a rollout says about how it was played. Policies are left out: a file must not raise what is allowed. So is
 * the offline provider: a conversation that fell back to it may have a real one by now.
 */
export function recordedConfig(state: ConversationState): ConversationConfig {
  const provider = state.turnContext?.provider ?? state.metadata?.provider;
  const model = state.turnContext?.model ?? state.metadata?.model;
  const cwd = state.turnContext?.cwd ?? state.meta?.cwd;
  const known = provider !== undefined && !placeholders.has(provider);
  return {
    ...(known ? { provider } : {}),
    ...(known && model !== undefined ? { model } : {}),
    ...(cwd === undefined || resolve(cwd) === "/" ? {} : { cwd }),
  };
}

function resolved(config: Config, env: ResolveInput["env"], available: ReadonlySet<string>) {
  const found = resolveProvider({ config, env, available, command: "chat" });
  if (!found.ok) throw new InvalidInputError(found.message);
  return { provider: found.provider, model: found.model, notice: found.notice };
}
