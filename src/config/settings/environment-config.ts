import type { Config } from "../../messages/config.js";
import { InvalidInputError } from "../../base/errors.js";
import { issueWords } from "../../base/issue-words.js";
import { mergedConfig } from "../files/merge-config.js";
import { variableOf } from "./config-names.js";
import { configKeys, nestedSetting, settingValue } from "./setting-keys.js";

type Env = Readonly<Record<string, string | undefined>>;

/** Reads the settings from environment variables; an empty variable counts as not set. */
export async function environmentConfig(env: Env): Promise<Config> {
  // Most environments set none, and then the schema need not be loaded.
  const said = Object.keys(env).some((name) => name.startsWith("CODY_"))
    ? configKeys.filter((key) => env[variableOf(key)])
    : [];
  if (said.length === 0) return {};
  const { Config } = await import("../../messages/config.js");
  const settings = said.map((key) => {
    const setting = nestedSetting(key, settingValue(key, env[variableOf(key)] ?? ""));
    const { success, error } = Config.safeParse(setting, { error: issueWords });
    if (success) return setting;
    throw new InvalidInputError(`${variableOf(key)}: ${error.issues[0]?.message ?? "cannot be used"}`);
  });
  return mergedConfig(settings);
}
