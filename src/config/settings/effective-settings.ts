import type { Config } from "../../messages/settings/config.js";
import {
  type ConfigKey,
  type EffectiveGroup,
  type EffectiveValue,
  type SettingGroup,
  type SettingRow,
  settingsTable,
} from "../../messages/settings/settings-table.js";
import { configKeys, settingIn } from "./setting-keys.js";

/** The value of a setting, or else its default; undefined if it has none. */
export function effectiveSetting<K extends ConfigKey>(config: Config, key: K): EffectiveValue<K> {
  const row: SettingRow = settingsTable[key];
  return (settingIn(config, key) ?? row.default) as EffectiveValue<K>;
}

/** The settings of a group with their defaults, such as all turn limits. */
export function effectiveGroup<G extends SettingGroup>(config: Config, group: G): EffectiveGroup<G> {
  const prefix = `${group}.`;
  const keys = configKeys.filter((key) => key.startsWith(prefix));
  const entries = keys.map((key) => [key.slice(prefix.length), effectiveSetting(config, key)]);
  return Object.fromEntries(entries) as EffectiveGroup<G>;
}

export type EffectiveLimits = EffectiveGroup<"turnLimits">;

/**
 * Settings without a default may be undefined: then only the ratio triggers compaction, the built-in prompt is used,
 * and the strategy depends on the model.
 */
export type EffectiveCompaction = EffectiveGroup<"compaction">;

/** How many conversations are kept, and for how long; undefined means no limit. */
export interface RetentionSettings {
  readonly retentionDays: number | undefined;
  readonly maxConversationsPerProject: number | undefined;
}

/** Fills in the defaults; `false` and 0 become undefined. */
export function effectiveRetention(persistence: Config["persistence"]): RetentionSettings {
  const { retentionDays, maxConversationsPerProject } = effectiveGroup({ persistence }, "persistence");
  return {
    retentionDays: retentionDays || undefined,
    maxConversationsPerProject: maxConversationsPerProject || undefined,
  };
}
