import { resolve } from "node:path";
import type { ConfigFlags } from "../../config/load-config.js";
import { mergedConfig } from "../../config/files/merge-config.js";
import { type ConfigKey, configKeys, nestedSetting, settingValue } from "../../config/settings/setting-keys.js";
import { Config } from "../../messages/settings/config.js";
import { settingRows } from "../../messages/settings/settings-table.js";
import { issueWords } from "../../base/issue-words.js";
import { usageError } from "../command-error.js";
import type { SharedContext } from "../context.js";
import { flagNames, flagRow, type SettingFlag, spellingOf } from "./flag-table.js";

/** The settings given as flags. Each is checked separately, so that an error names the flag as it was typed. */
export function configFlags({ flags, terminal }: SharedContext<SettingFlag | "config">): ConfigFlags {
  const values: Readonly<Record<string, unknown>> = flags;
  const layers = flagNames.flatMap((name): Config[] => {
    const { kind, setting } = flagRow(name);
    const value = values[name];
    if (setting === undefined || value === undefined || value === false) return [];
    const path = kind === "path" && typeof value === "string" ? resolve(terminal.cwd, value) : value;
    return [checked(spellingOf(name), nestedSetting(setting, kind === "switch" ? false : path))];
  });
  return mergedConfig([...(flags.config ?? []).map(overrideOf), ...layers]);
}

/** Codex's names of settings that cody has under another name. */
const codexNames: Readonly<Record<string, ConfigKey>> = {
  approval_policy: "approvalPolicy",
  model_provider: "provider",
  openai_base_url: "baseUrl",
  sandbox_mode: "sandbox.mode",
};

/** The setting in a `--config key=value`; empty if it is one that only Codex has. */
function overrideOf(text: string): Config {
  const { key, value } = parseOverride(text);
  return isConfigKey(key) ? checked(`--config ${key}`, nestedSetting(key, settingValue(key, value))) : {};
}

/** Splits a `--config key=value` and translates Codex's name. As in Codex, the value may be written as in TOML. */
export function parseOverride(text: string): { readonly key: string; readonly value: string } {
  const [, name, written] = /^([^=\s]+)\s*=([^]*)$/.exec(text.trim()) ?? [];
  if (name === undefined || written === undefined) throw usageError(`--config ${text}: expected <key>=<value>`);
  return { key: codexNames[name] ?? settingNamed(name), value: bareValue(written.trim()) };
}

/** The setting with this short name, such as `sandbox`; else the name itself. */
function settingNamed(name: string): string {
  return settingRows.find(({ shortName }) => shortName === name)?.key ?? name;
}

/** The overrides of settings that only Codex has, which have no effect. */
export function unknownOverrides(overrides: readonly string[] = []): string[] {
  return overrides.map((text) => parseOverride(text).key).filter((key) => !isConfigKey(key));
}

/** A quoted text without its quotes, and a list with commas between its values. */
function bareValue(written: string): string {
  try {
    const value: unknown = JSON.parse(written);
    return Array.isArray(value) ? value.map(String).join(",") : typeof value === "string" ? value : written;
  } catch {
    return written.replace(/^'([^']*)'$/, "$1");
  }
}

function isConfigKey(key: string): key is ConfigKey {
  return configKeys.includes(key as ConfigKey);
}

function checked(spelling: string, settings: unknown): Config {
  const result = Config.safeParse(settings, { error: issueWords });
  if (result.success) return result.data;
  throw usageError(`${spelling}: ${result.error.issues[0]?.message ?? "invalid"}`);
}
