import type { Config, Layout } from "../messages/config.js";
import { defaultName, isReadableByOthers, parseConfig, readConfigFile } from "./files/config-file.js";
import type { ConfigName } from "./settings/config-names.js";
import { environmentConfig } from "./settings/environment-config.js";
import { guardedChoice } from "./providers/login-choice.js";
import { mcpSecrets } from "./secrets/mcp-secrets.js";
import { mergedConfig } from "./files/merge-config.js";
import { conversationPlaces } from "./places.js";
import { type ProjectConfig, readProjectConfig } from "./project/project-config.js";
import { type ConfigKey, configKeys, settingIn } from "./settings/setting-keys.js";
import { configuredKeys } from "./providers/vendors.js";

/** What comes from the environment is known when the provider is: until then it counts as default. */
export type ConfigSource = "default" | "environment" | ConfigName | `.cody/${ConfigName}` | "flag";
/** Settings of one run; what is undefined counts as not said. */
export type ConfigFlags = { readonly [K in keyof Config]?: Config[K] | undefined };

/** What holds for this run, and for each setting who said it. What nobody said and has no fixed default is absent. */
export interface LoadedConfig {
  readonly values: Omit<Config, "persistence"> & {
    readonly persistence: {
      readonly enabled: boolean;
      readonly layout: Layout;
      readonly directory: string;
      readonly retentionDays?: number | false;
      readonly maxConversationsPerProject?: number | false;
      readonly maxFileMegabytes?: number;
      readonly maxBlobMegabytes?: number;
    };
  };
  readonly sources: Readonly<Record<ConfigKey, ConfigSource>>;
  /** What each of them says, the strongest last. */
  readonly layers: readonly ConfigLayer[];
  /** The name of the configuration that was read, or would be written. */
  readonly file: ConfigName;
  /** Its path, when keys are in it and not only its owner can read it. */
  readonly exposed?: string;
  /** A sentence about each key that no setting has. */
  readonly warnings: readonly string[];
  /** A configuration of the project that is not used, because nobody has said whether it may be. */
  readonly unasked?: string;
}

export interface ConfigInput {
  readonly home: string;
  /** Where Codex keeps its files, for the layout that has them there. */
  readonly codexHome?: string | undefined;
  /** Where the project is whose configuration counts; without it none does. */
  readonly cwd?: string;
  /** Where keys may be, which say whose an address is that is configured without a provider. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly flags: ConfigFlags;
}

/**
 * Flags win over the environment, which wins over the project's configuration, that one over the user's own, and that
 * over the defaults; relative directories lie in the home.
 */
export async function loadConfig(input: ConfigInput): Promise<LoadedConfig> {
  const { home, codexHome, cwd, env, flags } = input;
  const [found, project, environment] = await Promise.all([
    readConfigFile(home),
    cwd === undefined ? noProject : readProjectConfig(home, cwd),
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
  const said = layers.map(({ source, config }) => ({ choice: config, isOwn: source === name || source === "flag" }));
  const choice = guardedChoice(said, { env, providers: values.providers, auth: values.auth }, values.models);
  const { persistence = {} } = values;
  const { layout, directory } = conversationPlaces({ home, codexHome, persistence });
  const isExposed =
    found !== undefined &&
    [...configuredKeys(own.providers), ...mcpSecrets(own.mcp_servers)].length > 0 &&
    (await isReadableByOthers(found.path));
  return {
    file: name,
    layers,
    warnings: [...warnings, ...(project.warnings ?? [])],
    ...(isExposed ? { exposed: found.path } : {}),
    ...(project.unasked === undefined ? {} : { unasked: project.unasked }),
    values: {
      ...values,
      ...choice,
      persistence: { enabled: persistence.enabled ?? true, layout, directory, ...limitsOf(persistence) },
    },
    sources: Object.fromEntries(
      configKeys.map((key) => [key, sourceOf(key, layers, { ...values, ...choice })]),
    ) as LoadedConfig["sources"],
  };
}

const noProject: ProjectConfig = { config: {} };

/** All that one place says. */
export interface ConfigLayer {
  readonly source: ConfigSource;
  readonly config: Config;
}

/** Who said what holds: a layer that says something else for another provider has not. */
function sourceOf(key: ConfigKey, layers: readonly ConfigLayer[], values: Config): ConfigSource {
  const value = settingIn(values, key);
  if (value === undefined) return "default";
  return layers.findLast(({ config }) => settingIn(config, key) === value)?.source ?? "default";
}

const limitKeys = ["retentionDays", "maxConversationsPerProject", "maxFileMegabytes", "maxBlobMegabytes"] as const;
type Limits = Pick<LoadedConfig["values"]["persistence"], (typeof limitKeys)[number]>;

/** Of the limits those that are said. */
function limitsOf(persistence: NonNullable<Config["persistence"]>): Limits {
  return Object.fromEntries(
    limitKeys.flatMap((key) => (persistence[key] === undefined ? [] : [[key, persistence[key]]])),
  );
}
