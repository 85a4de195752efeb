import { resolve } from "node:path";
import type { ConfigFlags } from "../../config/load-config.js";
import { mergedConfig } from "../../config/files/merge-config.js";
import { nestedSetting } from "../../config/settings/setting-keys.js";
import { Config } from "../../messages/config.js";
import { issueWords } from "../../base/issue-words.js";
import { usageError } from "../command-error.js";
import type { SharedContext } from "../context.js";
import { flagNames, flagRow, type SettingFlag, spellingOf } from "./flag-table.js";

/** The settings given as flags. Each is checked separately, so that an error names the flag as it was typed. */
export function configFlags({ flags, terminal }: SharedContext<SettingFlag>): ConfigFlags {
  const values: Readonly<Record<string, unknown>> = flags;
  const layers = flagNames.flatMap((name): Config[] => {
    const { kind, setting } = flagRow(name);
    const value = values[name];
    if (setting === undefined || value === undefined || value === false) return [];
    const path = kind === "path" && typeof value === "string" ? resolve(terminal.cwd, value) : value;
    return [checked(spellingOf(name), nestedSetting(setting, kind === "switch" ? false : path))];
  });
  return mergedConfig(layers);
}

function checked(spelling: string, settings: unknown): Config {
  const result = Config.safeParse(settings, { error: issueWords });
  if (result.success) return result.data;
  throw usageError(`${spelling}: ${result.error.issues[0]?.message ?? "invalid"}`);
}
