import { resolveSettings } from "../../../actors/conversation/open/resolve-settings.js";
import type { ConfigLayer, ConfigSource, LoadedConfig } from "../../../config/load-config.js";
import { effectiveCompaction } from "../../../config/settings/compaction-settings.js";
import { defaultBlobMegabytes } from "../../../config/places.js";
import { defaultPatterns } from "../../../config/secrets/rules.js";
import { defaultInjectionBudget } from "../../../context/knowledge-section.js";
import { effectiveRetention } from "../../../config/settings/retention-settings.js";
import { defaultHistoryTurns, effectiveLimits } from "../../../config/settings/turn-limits.js";
import { mcpSecrets } from "../../../config/secrets/mcp-secrets.js";
import { mergedConfig } from "../../../config/files/merge-config.js";
import { secretsOf } from "../../../config/secrets/redact.js";
import { configKeys, type ConfigValue } from "../../../config/settings/setting-keys.js";
import { type LeafValue, settingLeaves } from "../../../config/settings/setting-leaves.js";
import { configuredKeys, saidBaseUrl } from "../../../config/providers/vendors.js";
import type { Config } from "../../../messages/config.js";
import { InvalidInputError } from "../../../base/errors.js";
import type { McpServerEntries } from "../../../messages/mcp-config.js";
import type { CommandContext } from "../../context.js";
import { exportDirectory } from "../transfer/export-directory.js";
import { loadSettings } from "../../load-settings.js";
import { type SaidSetting, saidSettings, trustedServers, vendorLayer } from "./setting-sources.js";
import { type ShowValue, valueShower } from "./shown-value.js";
import { inProcessProviders } from "../../workspace.js";

export interface ShownSetting {
  readonly value: LeafValue | undefined;
  readonly source: ConfigSource;
}

export interface EffectiveConfig {
  /** By name: first every setting with a single value, then the table entries, sorted. */
  readonly settings: ReadonlyMap<string, ShownSetting>;
  readonly said: ReadonlyMap<string, readonly SaidSetting[]>;
  readonly show: ShowValue;
}

/** The effective settings of a new conversation, with defaults, and of the providers configured or `asked` for. */
export async function effectiveConfig(context: CommandContext, asked?: string): Promise<EffectiveConfig> {
  const { values, sources, file, layers: loaded } = await loadSettings(context);
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
    "turnLimits.answerBytes": limits.answerBytes,
    "turnLimits.turnBytes": limits.turnBytes,
    "turnLimits.approvalSeconds": limits.approvalSeconds,
    "turnLimits.identicalFailures": limits.identicalFailures,
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
  const names = [...Object.keys(values.providers ?? {}), provider, asked].filter((name) => name !== undefined);
  const servers = await trustedServers(context);
  const ofVendors = vendorLayer(context, names);
  const layers = [ofVendors, ...loaded.map((layer) => withServers(layer, servers))];
  const { providers } = mergedConfig([ofVendors.config, { providers: values.providers }]);
  // If two servers have the same name, only the project's is started, and none of the other's settings apply.
  const mcpServers = { ...values.mcp_servers, ...servers };
  const said = saidSettings(layers);
  const { env } = context.terminal;
  const secrets = [values.mcp_servers, servers].flatMap((entries) => mcpSecrets(entries, env));
  return {
    settings: new Map<string, ShownSetting>([
      ...configKeys.map((key) => [key, { value: shown[key], source: found[key] }] as const),
      ...tableSettings({ ...values, providers, mcp_servers: mcpServers }, said),
    ]),
    said,
    show: valueShower([...configuredKeys(providers), ...secrets, ...secretsOf(env)]),
  };
}

function withServers(layer: ConfigLayer, servers: McpServerEntries): ConfigLayer {
  const isTheirs = layer.source.startsWith(".cody/") && Object.keys(servers).length > 0;
  return isTheirs ? { ...layer, config: { ...layer.config, mcp_servers: servers } } : layer;
}

/** Settings in tables with user-defined names. */
function tableSettings(
  values: Config,
  said: ReadonlyMap<string, readonly SaidSetting[]>,
): (readonly [string, ShownSetting])[] {
  const known: ReadonlySet<string> = new Set(configKeys);
  return [...settingLeaves(values)]
    .filter(([key]) => !known.has(key) && said.has(key))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => [key, { value, source: said.get(key)?.[0]?.source ?? "default" }] as const);
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

type SaidSettings = Pick<
  LoadedConfig["values"],
  "provider" | "api" | "model" | "baseUrl" | "approvalPolicy" | "sandbox"
>;

/** Shows the configured values even if the selected provider has no key. */
async function settingsOf(context: CommandContext, config: LoadedConfig["values"]): Promise<SaidSettings> {
  const { env, cwd } = context.terminal;
  const inProcess = inProcessProviders(context);
  try {
    return resolveSettings({ config, conversation: {}, env, inProcess, cwd }).settings;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    await context.tell(error.message);
    const { approvalPolicy, sandbox } = resolveSettings({
      config,
      conversation: {},
      env,
      inProcess: undefined,
      cwd,
    }).settings;
    return { ...config, approvalPolicy, sandbox };
  }
}
