import { resolve } from "node:path";
import type { Config, TurnLimits } from "../messages/config.js";
import { parseConfig, readConfigText } from "./config-file.js";
import { homePaths } from "./paths.js";
import { choiceOf } from "./provider-choice.js";

/** What comes from the environment is known when the provider is: until then it counts as default. */
export type ConfigSource = "default" | "environment" | "config.json" | "flag";
export type ConfigKey =
  | Exclude<keyof Config, "persistence" | "turnLimits">
  | `turnLimits.${keyof TurnLimits}`
  | `persistence.${keyof NonNullable<Config["persistence"]>}`;

/** Settings of one run; what is undefined counts as not said. */
export type ConfigFlags = { readonly [K in keyof Config]?: Config[K] | undefined };

/** What holds for this run, and for each setting who said it. What nobody said and has no fixed default is absent. */
export interface LoadedConfig {
  readonly values: Omit<Config, "persistence"> & { readonly persistence: { enabled: boolean; directory: string } };
  readonly sources: Readonly<Record<ConfigKey, ConfigSource>>;
}

/** Flags win over `config.json`, which wins over the defaults; relative directories lie in the home. */
export async function loadConfig({ home, flags }: { home: string; flags: ConfigFlags }): Promise<LoadedConfig> {
  const paths = homePaths(home);
  const text = await readConfigText(paths.config);
  const { provider, api, model, baseUrl, ...others }: Config = text === undefined ? {} : await parseConfig(text);
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Config;
  const said = { provider, api, model, baseUrl };
  const choice = choiceOf([said, given], {});
  const kept = Object.entries(said).filter(([key, value]) => value === choice[key as keyof typeof choice]);
  const file: Config = { ...others, ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)) };
  const persistence = { ...file.persistence, ...given.persistence };
  const turnLimits = { ...file.turnLimits, ...given.turnLimits };
  const sourceOf = (read: (config: Config) => unknown): ConfigSource => {
    if (read(given) !== undefined) return "flag";
    return read(file) === undefined ? "default" : "config.json";
  };
  return {
    values: {
      ...file,
      ...given,
      ...choice,
      ...(Object.keys(turnLimits).length > 0 ? { turnLimits } : {}),
      persistence: {
        enabled: persistence.enabled ?? true,
        directory: resolve(home, persistence.directory ?? paths.conversations),
      },
    },
    sources: {
      provider: sourceOf((config) => config.provider),
      api: sourceOf((config) => config.api),
      model: sourceOf((config) => config.model),
      baseUrl: sourceOf((config) => config.baseUrl),
      auth: sourceOf((config) => config.auth),
      approvalPolicy: sourceOf((config) => config.approvalPolicy),
      sandbox: sourceOf((config) => config.sandbox),
      "turnLimits.steps": sourceOf((config) => config.turnLimits?.steps),
      "turnLimits.seconds": sourceOf((config) => config.turnLimits?.seconds),
      "turnLimits.tokens": sourceOf((config) => config.turnLimits?.tokens),
      "turnLimits.approvalSeconds": sourceOf((config) => config.turnLimits?.approvalSeconds),
      toolEnv: sourceOf((config) => config.toolEnv),
      "persistence.enabled": sourceOf((config) => config.persistence?.enabled),
      "persistence.directory": sourceOf((config) => config.persistence?.directory),
    },
  };
}
