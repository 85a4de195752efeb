import type { Config, Layout } from "../messages/settings/config.js";
import { defaultName, isReadableByOthers, parseConfig, readConfigFile } from "./files/config-file.js";
import type { ConfigName } from "./settings/config-names.js";
import { environmentConfig } from "./settings/environment-config.js";
import { mergeLoginChoice } from "./providers/choose-provider.js";
import { mcpSecrets } from "./secrets/redact.js";
import { mergedConfig } from "./files/merge-config.js";
import { conversationPlaces, type ConversationPlaces } from "./paths.js";
import { type ProjectConfig, readProjectConfig } from "./project/project-config.js";
import { effectiveSetting } from "./settings/effective-settings.js";
import { type ConfigKey, configKeys, settingIn } from "./settings/setting-keys.js";
import { configuredKeys } from "./providers/vendors.js";

/** Settings read from a provider's own environment variables count as `default` until the provider is resolved. */
export type ConfigSource = "default" | "environment" | ConfigName | `.cody/${ConfigName}` | "flag";
/** Settings for one run; undefined means not set. */
export type ConfigFlags = { readonly [K in keyof Config]?: Config[K] | undefined };

/**
 * The effective configuration of a run, and the source of each setting. A setting without a value or a fixed default is
 * absent.
 */
export interface LoadedConfig {
  readonly values: Omit<Config, "persistence"> & {
    readonly persistence: NonNullable<Config["persistence"]> & {
      readonly enabled: boolean;
      readonly layout: Layout;
      readonly directory: string;
    };
  };
  /** The directories that hold conversations according to these values. */
  readonly places: ConversationPlaces;
  readonly sources: Readonly<Record<ConfigKey, ConfigSource>>;
  /** The configuration of each source; later layers win. */
  readonly layers: readonly ConfigLayer[];
  /** The name of the configuration that was read, or would be created. */
  readonly file: ConfigName;
  /** The path of the configuration, if it contains keys and other users can read it. */
  readonly exposed?: string;
  /** One sentence for each unknown key. */
  readonly warnings: readonly string[];
  /**
   * The path of a project configuration that is ignored, because the user has not decided whether to trust the project.
   */
  readonly ignoredConfig?: string;
}

interface ConfigInput {
  readonly home: string;
  /** Codex's home, for the layout that keeps conversations there. */
  readonly codexHome?: string | undefined;
  /** The real path of the project whose configuration applies; without it, none is read. */
  readonly projectRoot?: string;
  /** Holds `CODY_` settings and API keys; the keys decide the provider of a base URL that is configured without one. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly flags: ConfigFlags;
}

/**
 * Flags win over the environment, which wins over the project's configuration, which wins over the user's own, which
 * wins over the defaults. Relative directories are resolved against the home.
 */
export async function loadConfig(input: ConfigInput): Promise<LoadedConfig> {
  const { home, codexHome, projectRoot, env, flags } = input;
  const [found, project, environment] = await Promise.all([
    readConfigFile(home),
    projectRoot === undefined ? noProject : readProjectConfig(home, projectRoot),
    environmentConfig(env),
  ]);
  const name = found?.name ?? defaultName;
  const { config: own, warnings } = found === undefined ? { config: {}, warnings: [] } : await parseConfig(found);
  const layers: readonly ConfigLayer[] = [
    { source: name, config: own },
    { source: `.cody/${project.name ?? defaultName}`, config: project.config },
    { source: "environment", config: environment },
    { source: "flag", config: mergedConfig([flags]) },
  ];
  const configs = layers.map(({ config }) => config);
  const { provider: _, api: __, model: ___, baseUrl: ____, ...values } = mergedConfig(configs);
  const choices = layers.map(({ source, config }) => ({ choice: config, isOwn: source === name || source === "flag" }));
  const choice = mergeLoginChoice(choices, { env, providers: values.providers, auth: values.auth }, values.models);
  const { persistence = {} } = values;
  const places = conversationPlaces({ home, codexHome, persistence });
  const { layout, directory } = places;
  const isExposed =
    found !== undefined &&
    [...configuredKeys(own.providers), ...mcpSecrets(own.mcp_servers)].length > 0 &&
    (await isReadableByOthers(found.path));
  return {
    places,
    file: name,
    layers,
    warnings: [...warnings, ...(project.warnings ?? [])],
    ...(isExposed ? { exposed: found.path } : {}),
    ...(project.ignoredConfig === undefined ? {} : { ignoredConfig: project.ignoredConfig }),
    values: {
      ...values,
      ...choice,
      persistence: { ...persistence, enabled: effectiveSetting(values, "persistence.enabled"), layout, directory },
    },
    sources: Object.fromEntries(
      configKeys.map((key) => [key, sourceOf(key, layers, { ...values, ...choice })]),
    ) as LoadedConfig["sources"],
  };
}

const noProject: ProjectConfig = { config: {} };

/** The settings from one source. */
export interface ConfigLayer {
  readonly source: ConfigSource;
  readonly config: Config;
}

/**
 * Returns the last layer with the effective value. A layer that was discarded because it is for another provider does
 * not count.
 */
function sourceOf(key: ConfigKey, layers: readonly ConfigLayer[], values: Config): ConfigSource {
  const value = settingIn(values, key);
  if (value === undefined) return "default";
  return layers.findLast(({ config }) => settingIn(config, key) === value)?.source ?? "default";
}
