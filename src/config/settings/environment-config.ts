import { InvalidInputError } from "../../base/errors.js";
import { issueWords } from "../../base/issue-words.js";
import type { Config } from "../../messages/settings/config.js";
import { mergedConfig } from "../files/merge-config.js";
import { configKeys, nestedSetting, settingValue, variablesOf } from "./setting-keys.js";

/** Variables besides those of settings: the home, debug logging, and the tool call that a process belongs to. */
const otherVariables = ["CODY_HOME", "CODY_DEBUG", "CODY_CALL"];

const prefix = "CODY_";

const maxDistance = 3;

/** In a short name, one different letter makes another word, which may belong to another program. */
const shortChars = 4;

type Env = Readonly<Record<string, string | undefined>>;

/** Reads the settings from environment variables; an empty variable counts as not set. */
export async function environmentConfig(env: Env): Promise<Config> {
  // Most environments set none, and then the schema need not be loaded.
  const found = Object.keys(env).some((name) => name.startsWith("CODY_"))
    ? configKeys.flatMap((key) => {
        const variable = variablesOf(key).find((name) => env[name]);
        return variable === undefined ? [] : [{ key, variable }];
      })
    : [];
  if (found.length === 0) return {};
  const { Config } = await import("../../messages/settings/config.js");
  const settings = found.map(({ key, variable }) => {
    const setting = nestedSetting(key, settingValue(key, env[variable] ?? ""));
    const { success, error } = Config.safeParse(setting, { error: issueWords });
    if (success) return setting;
    throw new InvalidInputError(`${variable}: ${error.issues[0]?.message ?? "cannot be used"}`);
  });
  return mergedConfig(settings);
}

/** A `CODY_` variable that cody does not read, and the one that was probably meant. */
interface MistypedVariable {
  readonly name: string;
  readonly suggestion: string;
}

/** Finds likely misspellings of our variables. Other `CODY_` variables may belong to another program. */
export async function mistypedVariables(env: Readonly<NodeJS.ProcessEnv>): Promise<MistypedVariable[]> {
  const names = Object.keys(env).filter((name) => name.startsWith(prefix) && env[name] !== "");
  const known = [...configKeys.flatMap(variablesOf), ...otherVariables];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return [];
  const { closest, distance } = await import("fastest-levenshtein");
  return unknown.flatMap((name) => {
    const wanted = name.slice(prefix.length).toUpperCase();
    const near = closest(
      wanted,
      known.map((variable) => variable.slice(prefix.length)),
    );
    const allowed = wanted.length <= shortChars ? 1 : Math.min(maxDistance, Math.floor(wanted.length / 2));
    if (distance(wanted, near) <= allowed) return [{ name, suggestion: prefix + near }];
    // The name may be only the last part of a variable's name.
    const [namesake, another] = known.filter((variable) => variable.endsWith(`_${wanted}`));
    return namesake === undefined || another !== undefined ? [] : [{ name, suggestion: namesake }];
  });
}
