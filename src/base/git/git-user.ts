import { join } from "node:path";

/** Paths of the git configuration of the user and the machine. */
export interface GitUser {
  /** The directory `~` expands to; absent for a user without a home. */
  readonly home?: string;
  /** Later files override earlier ones. */
  readonly configs: readonly string[];
  /** The global ignore file, unless a configuration names another one. */
  readonly ignore?: string;
}

/** Computes the paths by git's rules. Reads no file. */
export function gitUser(user: { env: Readonly<NodeJS.ProcessEnv>; homedir: () => string }): GitUser {
  const { env } = user;
  const home = nonEmpty(env["HOME"]) ?? homeOr(user.homedir);
  const config = nonEmpty(env["XDG_CONFIG_HOME"]) ?? (home && join(home, ".config"));
  const system = isYes(env["GIT_CONFIG_NOSYSTEM"]) ? [] : [nonEmpty(env["GIT_CONFIG_SYSTEM"]) ?? "/etc/gitconfig"];
  const own = env["GIT_CONFIG_GLOBAL"];
  const defaults = [config && join(config, "git", "config"), home && join(home, ".gitconfig")];
  const configs = own === undefined ? defaults : [nonEmpty(own)];
  return {
    ...(home !== undefined && { home }),
    configs: [...system, ...configs].filter((path) => path !== undefined),
    ...(config !== undefined && { ignore: join(config, "git", "ignore") }),
  };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function isYes(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no", "off"].includes(value.toLowerCase());
}

function homeOr(homedir: () => string): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}
