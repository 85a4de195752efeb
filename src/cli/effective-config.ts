import { resolveSettings } from "../actors/conversation/resolve-settings.js";
import type { ConfigSource, LoadedConfig } from "../config/load-config.js";
import { effectiveCompaction } from "../config/compaction-settings.js";
import { defaultBlobMegabytes } from "../config/places.js";
import { defaultPatterns } from "../config/redaction/rules.js";
import { defaultInjectionBudget } from "../context/knowledge-section.js";
import { effectiveRetention } from "../config/retention-settings.js";
import { defaultHistoryTurns, effectiveLimits } from "../config/turn-limits.js";
import { apiKey, saidBaseUrl } from "../config/vendors.js";
import { InvalidInputError } from "../messages/errors.js";
import { configKeys, type ConfigValue } from "../config/setting-keys.js";
import type { SettingKey } from "./config-keys.js";
import type { CommandContext } from "./context.js";
import { exportDirectory } from "./export/export-directory.js";
import { loadSettings } from "./load-settings.js";
import { inProcessProviders } from "./workspace.js";

export interface ShownSetting {
  readonly value: ConfigValue | undefined;
  readonly source: ConfigSource;
}

/** All that is ever shown of a key. */
export const hiddenValue = "(set)";

/** What a conversation started now would have, defaults included, and of providers what is said about them or `asked`. */
export async function effectiveConfig(
  context: CommandContext,
  asked?: string,
): Promise<ReadonlyMap<SettingKey, ShownSetting>> {
  const { values, sources, file } = await loadSettings(context);
  const settings = await settingsOf(context, values);
  const limits = effectiveLimits(values.turnLimits);
  const compaction = effectiveCompaction(values.compaction);
  const retention = effectiveRetention(values.persistence);
  const { provider, api, model, baseUrl, approvalPolicy, sandbox } = settings;
  const shown: Record<(typeof configKeys)[number], ConfigValue | undefined> = {
    provider,
    api,
    model,
    baseUrl,
    auth: values.auth,
    approvalPolicy,
    sandbox,
    "turnLimits.steps": limits.steps,
    "turnLimits.seconds": limits.seconds,
    "turnLimits.tokens": limits.tokens,
    "turnLimits.approvalSeconds": limits.approvalSeconds,
    "compaction.enabled": compaction.enabled,
    "compaction.strategy": compaction.strategy,
    "compaction.mode": compaction.mode,
    "compaction.ratio": compaction.ratio,
    "compaction.tokenLimit": compaction.tokenLimit,
    "compaction.reserveTokens": compaction.reserveTokens,
    "compaction.keepRecentTokens": compaction.keepRecentTokens,
    "compaction.keepTurns": compaction.keepTurns,
    "compaction.userMessageTokens": compaction.userMessageTokens,
    "compaction.preserveToolResults": compaction.preserveToolResults,
    "compaction.onFailure": compaction.onFailure,
    "compaction.prompt": compaction.prompt,
    contextWindow: values.contextWindow,
    systemPrompt: values.systemPrompt,
    instructions: values.instructions,
    "knowledge.enabled": values.knowledge?.enabled ?? true,
    "knowledge.injectionBudget": values.knowledge?.injectionBudget ?? defaultInjectionBudget,
    toolEnv: values.toolEnv,
    "redaction.sensitivePatterns": values.redaction?.sensitivePatterns ?? defaultPatterns,
    "redaction.shapes": values.redaction?.shapes ?? false,
    "history.maxSize": values.history?.maxSize ?? defaultHistoryTurns,
    "export.directory": await exportDirectory(context, values.export?.directory).catch(() => undefined),
    "persistence.enabled": values.persistence.enabled,
    "persistence.layout": values.persistence.layout,
    "persistence.directory": values.persistence.directory,
    "persistence.retentionDays": retention.retentionDays ?? false,
    "persistence.maxConversationsPerProject": retention.maxConversationsPerProject ?? false,
    "persistence.maxFileMegabytes": values.persistence.maxFileMegabytes,
    "persistence.maxBlobMegabytes": values.persistence.maxBlobMegabytes ?? defaultBlobMegabytes,
  };
  const found = { ...sources, baseUrl: baseUrlSource(context, { values, sources, file }, settings) };
  const names = new Set([...Object.keys(values.providers ?? {}), provider, asked].filter((name) => name !== undefined));
  return new Map<SettingKey, ShownSetting>([
    ...configKeys.map((key) => [key, { value: shown[key], source: found[key] }] as const),
    ...[...names].toSorted().flatMap((name) => providerSettings(context, { values, file }, name)),
  ]);
}

function baseUrlSource(
  { terminal }: CommandContext,
  { values, sources, file }: Pick<LoadedConfig, "values" | "sources" | "file">,
  { provider = "", baseUrl }: SaidSettings,
): ConfigSource {
  if (values.baseUrl !== undefined || baseUrl === undefined) return sources.baseUrl;
  if (baseUrl === values.providers?.[provider]?.baseUrl) return file;
  return baseUrl === saidBaseUrl(provider, terminal.env) ? "environment" : "default";
}

function providerSettings(
  { terminal: { env } }: CommandContext,
  { values: { providers = {} }, file }: Pick<LoadedConfig, "values" | "file">,
  name: string,
): (readonly [SettingKey, ShownSetting])[] {
  const entry = providers[name] ?? {};
  const hasKey = apiKey(name, { env, providers }) !== undefined;
  const source = entry.apiKey === undefined ? "environment" : file;
  return [
    ...(hasKey ? [[`providers.${name}.apiKey`, { value: hiddenValue, source }] as const] : []),
    ...(entry.baseUrl === undefined
      ? []
      : [[`providers.${name}.baseUrl`, { value: entry.baseUrl, source: file }] as const]),
    ...(entry.keyring === undefined
      ? []
      : [[`providers.${name}.keyring`, { value: entry.keyring, source: file }] as const]),
  ];
}

type SaidSettings = Pick<
  LoadedConfig["values"],
  "provider" | "api" | "model" | "baseUrl" | "approvalPolicy" | "sandbox"
>;

/** Without the key a named provider needs, what is configured is still shown. */
async function settingsOf(context: CommandContext, config: LoadedConfig["values"]): Promise<SaidSettings> {
  const { env, cwd } = context.terminal;
  const inProcess = inProcessProviders(context);
  try {
    return resolveSettings({ config, conversation: {}, env, inProcess, cwd }).settings;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    await context.tell(error.message);
    return config;
  }
}
