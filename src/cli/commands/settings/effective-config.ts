import { resolveSettings } from "../../../actors/conversation/open/resolve-settings.js";
import type { ConfigLayer, ConfigSource, LoadedConfig } from "../../../config/load-config.js";
import { effectiveRetention, effectiveSetting } from "../../../config/settings/effective-settings.js";
import { mcpSecrets } from "../../../config/secrets/mcp-secrets.js";
import { mergedConfig } from "../../../config/files/merge-config.js";
import { secretsOf } from "../../../config/secrets/redact.js";
import { type ConfigKey, configKeys, type ConfigValue } from "../../../config/settings/setting-keys.js";
import { type LeafValue, settingLeaves } from "../../../config/settings/setting-leaves.js";
import { configuredKeys, baseUrlFromEnvironment } from "../../../config/providers/vendors.js";
import type { Config } from "../../../messages/config.js";
import { InvalidInputError } from "../../../base/errors.js";
import type { McpServerEntries } from "../../../messages/mcp-config.js";
import type { CommandContext } from "../../context.js";
import { exportDirectory } from "../transfer/export-directory.js";
import { loadSettings } from "../../load-settings.js";
import { type SourcedValue, settingSources, trustedServers, vendorLayer } from "./setting-sources.js";
import { type MaskValue, createValueMask } from "./shown-value.js";
import { inProcessProviders } from "../../workspace.js";

export interface ShownSetting {
  readonly value: LeafValue | undefined;
  readonly source: ConfigSource;
}

export interface EffectiveConfig {
  /** By name: first every setting with a single value, then the table entries, sorted. */
  readonly settings: ReadonlyMap<string, ShownSetting>;
  readonly said: ReadonlyMap<string, readonly SourcedValue[]>;
  readonly show: MaskValue;
}

/** The effective settings of a new conversation, with defaults, and of the providers configured or `asked` for. */
export async function effectiveConfig(context: CommandContext, asked?: string): Promise<EffectiveConfig> {
  const { values, sources, file, layers: loaded } = await loadSettings(context);
  const settings = await settingsOf(context, values);
  const { provider } = settings;
  const { retentionDays, maxConversationsPerProject } = effectiveRetention(values.persistence);
  // Settings whose value depends on more than the configuration, or is shown in another way.
  const derived: { readonly [K in ConfigKey]?: ConfigValue | undefined } = {
    provider,
    api: settings.api,
    model: settings.model,
    baseUrl: settings.baseUrl,
    approvalPolicy: settings.approvalPolicy,
    sandbox: settings.sandbox,
    "export.directory": await exportDirectory(context, values.export?.directory).catch(() => undefined),
    "persistence.retentionDays": retentionDays ?? false,
    "persistence.maxConversationsPerProject": maxConversationsPerProject ?? false,
  };
  const shown = (key: ConfigKey) => (key in derived ? derived[key] : effectiveSetting(values, key));
  const found = { ...sources, baseUrl: baseUrlSource(context, { values, sources, file }, settings) };
  const names = [...Object.keys(values.providers ?? {}), provider, asked].filter((name) => name !== undefined);
  const servers = await trustedServers(context);
  const ofVendors = vendorLayer(context, names);
  const layers = [ofVendors, ...loaded.map((layer) => withServers(layer, servers))];
  const { providers } = mergedConfig([ofVendors.config, { providers: values.providers }]);
  // If two servers have the same name, only the project's is started, and none of the other's settings apply.
  const mcpServers = { ...values.mcp_servers, ...servers };
  const said = settingSources(layers);
  const { env } = context.terminal;
  const secrets = [values.mcp_servers, servers].flatMap((entries) => mcpSecrets(entries, env));
  return {
    settings: new Map<string, ShownSetting>([
      ...configKeys.map((key) => [key, { value: shown(key), source: found[key] }] as const),
      ...tableSettings({ ...values, providers, mcp_servers: mcpServers }, said),
    ]),
    said,
    show: createValueMask([...configuredKeys(providers), ...secrets, ...secretsOf(env)]),
  };
}

function withServers(layer: ConfigLayer, servers: McpServerEntries): ConfigLayer {
  const isTheirs = layer.source.startsWith(".cody/") && Object.keys(servers).length > 0;
  return isTheirs ? { ...layer, config: { ...layer.config, mcp_servers: servers } } : layer;
}

/** Settings in tables with user-defined names. */
function tableSettings(
  values: Config,
  said: ReadonlyMap<string, readonly SourcedValue[]>,
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
  { provider = "", baseUrl }: ProviderSettings,
): ConfigSource {
  if (values.baseUrl !== undefined || baseUrl === undefined) return sources.baseUrl;
  if (baseUrl === values.providers?.[provider]?.baseUrl) return file;
  return baseUrl === baseUrlFromEnvironment(provider, terminal.env) ? "environment" : "default";
}

type ProviderSettings = Pick<
  LoadedConfig["values"],
  "provider" | "api" | "model" | "baseUrl" | "approvalPolicy" | "sandbox"
>;

/** Shows the configured values even if the selected provider has no key. */
async function settingsOf(context: CommandContext, config: LoadedConfig["values"]): Promise<ProviderSettings> {
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
