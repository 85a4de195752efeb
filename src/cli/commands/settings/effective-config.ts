import { join } from "node:path";
import { type Policies, resolveSettings } from "../../../actors/conversation/state/settings.js";
import { InvalidInputError } from "../../../base/errors.js";
import { mask } from "../../../base/text/redaction.js";
import { mergedConfig } from "../../../config/files/merge-config.js";
import type { ConfigLayer, ConfigSource, LoadedConfig } from "../../../config/load-config.js";
import { readProjectCommands } from "../../../config/project/project-config.js";
import {
  configuredKeys,
  baseUrlFromEnvironment,
  keyVariable,
  vendorNames,
  vendorOf,
} from "../../../config/providers/vendors.js";
import { mcpSecrets, secretsOf, createRedactor, isSecretName } from "../../../config/secrets/redact.js";
import { effectiveRetention, effectiveSetting } from "../../../config/settings/effective-settings.js";
import {
  type ConfigKey,
  configKeys,
  type ConfigValue,
  type LeafValue,
  settingLeaves,
  variablesOf,
} from "../../../config/settings/setting-keys.js";
import type { Config, ProviderEntry } from "../../../messages/settings/config.js";
import type { McpServerEntries } from "../../../messages/settings/mcp-config.js";
import type { CommandContext } from "../../context.js";
import { loadSettings } from "../../load-settings.js";
import { inProcessProviders } from "../../workspace.js";
import { exportDirectory } from "../transfer/export-file.js";

/** Shown in place of a key. */
export const hiddenValue = "(set)";

/** Keys, and the values of a server's variables and headers. */
const secretKeys = /^providers\..+\.apiKey$|^mcp_servers\.[^.]+\.(?:env|http_headers)\./;

const address = /(?:^|\.)(?:url|baseUrl|issuer|tokenUrl)$/;

const queryValue = /(?<=[?&][^=&#]*=)[^&#]+/g;

const assigned = /^(-{0,2})([^=]+)=(.+)$/s;

interface ShownSetting {
  readonly value: LeafValue | undefined;
  readonly source: ConfigSource;
}

interface EffectiveConfig {
  /** By name: first every setting with a single value, then the table entries, sorted. */
  readonly settings: ReadonlyMap<string, ShownSetting>;
  readonly sources: ReadonlyMap<string, readonly SourcedValue[]>;
  readonly show: MaskValue;
}

/** The effective settings of a new conversation, with defaults, and of the providers configured or `requested`. */
export async function effectiveConfig(context: CommandContext, requested?: string): Promise<EffectiveConfig> {
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
    "sandbox.mode": settings.sandbox,
    "export.directory": await exportDirectory(context, values.export?.directory).catch(() => undefined),
    "persistence.retentionDays": retentionDays ?? false,
    "persistence.maxConversationsPerProject": maxConversationsPerProject ?? false,
  };
  const valueOf = (key: ConfigKey) => (key in derived ? derived[key] : effectiveSetting(values, key));
  const found = { ...sources, baseUrl: baseUrlSource(context, { values, sources, file }, settings) };
  const names = [...Object.keys(values.providers ?? {}), provider, requested].filter((name) => name !== undefined);
  const servers = await trustedServers(context);
  const ofVendors = vendorLayer(context, names);
  const layers = [ofVendors, ...loaded.map((layer) => withServers(layer, servers))];
  const { providers } = mergedConfig([ofVendors.config, { providers: values.providers }]);
  // If two servers have the same name, only the project's is started, and none of the other's settings apply.
  const mcpServers = { ...values.mcp_servers, ...servers };
  const sourcesByKey = settingSources(layers);
  const { env } = context.terminal;
  const secrets = [values.mcp_servers, servers].flatMap((entries) => mcpSecrets(entries, env));
  return {
    settings: new Map<string, ShownSetting>([
      ...configKeys.map((key) => [key, { value: valueOf(key), source: found[key] }] as const),
      ...tableSettings({ ...values, providers, mcp_servers: mcpServers }, sourcesByKey),
    ]),
    sources: sourcesByKey,
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
  sourcesByKey: ReadonlyMap<string, readonly SourcedValue[]>,
): (readonly [string, ShownSetting])[] {
  const known: ReadonlySet<string> = new Set(configKeys);
  return [...settingLeaves(values)]
    .filter(([key]) => !known.has(key) && sourcesByKey.has(key))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => [key, { value, source: sourcesByKey.get(key)?.[0]?.source ?? "default" }] as const);
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

type ProviderSettings = Pick<LoadedConfig["values"], "provider" | "api" | "model" | "baseUrl"> & Partial<Policies>;

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

/** The value of a setting in one source. */
interface SourcedValue {
  readonly source: ConfigSource;
  readonly value: LeafValue;
}

/** For each setting that is set, all its sources; the effective one comes first. */
function settingSources(layers: readonly ConfigLayer[]): ReadonlyMap<string, readonly SourcedValue[]> {
  const sourcesByKey = new Map<string, SourcedValue[]>();
  for (const { source, config } of layers.toReversed()) {
    for (const [key, value] of settingLeaves(config))
      sourcesByKey.set(key, [...(sourcesByKey.get(key) ?? []), { source, value }]);
  }
  return sourcesByKey;
}

/** The keys and addresses from the environment, which a provider's configuration overrides. */
function vendorLayer({ terminal: { env } }: CommandContext, names: Iterable<string>): ConfigLayer {
  const entries = [...new Set([...vendorNames, ...names])].map((name): [string, ProviderEntry] => {
    const apiKey = env[keyVariable(name)]?.trim() || undefined;
    return [name, { apiKey, baseUrl: baseUrlFromEnvironment(name, env) }];
  });
  return { source: "environment", config: { providers: Object.fromEntries(entries) } };
}

/** The servers of a trusted project, which are read separately from its settings. */
async function trustedServers({ home, projectRoots }: CommandContext): Promise<McpServerEntries> {
  const { isAllowed, servers } = await readProjectCommands(home, (await projectRoots()).realRoot);
  return isAllowed ? servers : {};
}

/** The file, variable or flag in which a person would find the value. */
export function sourceText({ home, terminal }: CommandContext, source: ConfigSource, key: string): string {
  if (source === "environment") return variableNamed(key, terminal.env);
  if (source === "flag") return "a flag";
  return source.startsWith(".cody/") ? `${source} of the project` : join(home, source);
}

function variableNamed(key: string, env: Readonly<NodeJS.ProcessEnv>): string {
  const setting = configKeys.find((candidate) => candidate === key);
  const variables = setting === undefined ? [] : variablesOf(setting);
  const variable = variables.find((name) => env[name]) ?? variables[0];
  if (variable !== undefined) return variable;
  const [, name = ""] = key.split(".");
  return key.endsWith(".apiKey") ? keyVariable(name) : (vendorOf(name)?.baseUrlOf?.variable ?? "environment");
}

/** Masks the secret parts of a setting's value. */
type MaskValue = (key: string, value: LeafValue) => LeafValue;

/** Masks secrets in values of any source. */
function createValueMask(secrets: readonly string[]): MaskValue {
  const redact = createRedactor(secrets);
  return (key, value) => {
    if (secretKeys.test(key)) return hiddenValue;
    if (Array.isArray(value)) return (key.endsWith(".args") ? shownArguments(value) : value).map(redact);
    if (typeof value !== "string") return value;
    return redact(address.test(key) ? value.replaceAll(queryValue, mask) : value);
  };
}

export function valueText(value: LeafValue): string {
  const isEmptyTable = typeof value === "object" && !Array.isArray(value);
  return isEmptyTable ? "{}" : String(value);
}

/** For `--token x`, `--token=x` and `TOKEN=x`, shows only the name. */
function shownArguments(args: readonly string[]): string[] {
  return args.map((argument, index) => {
    const before = args[index - 1] ?? "";
    if (before.startsWith("-") && !before.includes("=") && isSecretFlag(before, argument)) return mask;
    const [, dashes = "", name = "", value = ""] = assigned.exec(argument) ?? [];
    return isSecretFlag(name, value) ? `${dashes}${name}=${mask}` : argument;
  });
}

function isSecretFlag(flag: string, value: string): boolean {
  const name = flag.replace(/^-+/, "").replaceAll("-", "_");
  return isSecretName(name) || (name !== "" && value !== "" && secretsOf({ [name]: value }).includes(value));
}
