import { variableOf } from "./environment-config.js";
import { configKeys } from "./setting-keys.js";

/** A variable that nobody reads, and the one that was probably meant. */
export interface MistypedVariable {
  readonly name: string;
  readonly meant: string;
}

/** Read besides those of settings: where everything is, whether much is logged, and whose command a process is. */
const otherVariables = ["CODY_HOME", "CODY_DEBUG", "CODY_CALL"];
const prefix = "CODY_";
const maxDistance = 3;
/** Among short names one letter makes another word, which may be another program's. */
const shortChars = 4;

/** What looks like one of our variables and is none. Others that begin so may belong to another program. */
export async function mistypedVariables(env: Readonly<NodeJS.ProcessEnv>): Promise<MistypedVariable[]> {
  const said = Object.keys(env).filter((name) => name.startsWith(prefix) && env[name] !== "");
  const known = [...configKeys.map(variableOf), ...otherVariables];
  const unknown = said.filter((name) => !known.includes(name));
  if (unknown.length === 0) return [];
  const { closest, distance } = await import("fastest-levenshtein");
  return unknown.flatMap((name) => {
    const wanted = name.slice(prefix.length).toUpperCase();
    const near = closest(
      wanted,
      known.map((variable) => variable.slice(prefix.length)),
    );
    const allowed = wanted.length <= shortChars ? 1 : Math.min(maxDistance, Math.floor(wanted.length / 2));
    if (distance(wanted, near) <= allowed) return [{ name, meant: prefix + near }];
    // The last part of its name alone.
    const [namesake, another] = known.filter((variable) => variable.endsWith(`_${wanted}`));
    return namesake === undefined || another !== undefined ? [] : [{ name, meant: namesake }];
  });
}
