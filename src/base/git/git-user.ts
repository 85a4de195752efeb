import { join } from "node:path";

/** Where git finds what its user, or the machine, has configured. */
export interface GitUser {
  /** What `~` stands for; none for a user who has no home. */
  readonly home?: string;
  /** The last counts before the others. */
  readonly configs: readonly string[];
  /** What is ignored everywhere, if no configuration names another file. */
  readonly ignore?: string;
}

/** As git looks for them; nothing is read. */
export function gitUser(user: { env: Readonly<NodeJS.ProcessEnv>; homedir: () => string }): GitUser {
  const { env } = user;
  const home = filled(env["HOME"]) ?? homeOr(user.homedir);
  const config = filled(env["XDG_CONFIG_HOME"]) ?? (home && join(home, ".config"));
  const system = isYes(env["GIT_CONFIG_NOSYSTEM"]) ? [] : [filled(env["GIT_CONFIG_SYSTEM"]) ?? "/etc/gitconfig"];
  const own = env["GIT_CONFIG_GLOBAL"];
  const usual = [config && join(config, "git", "config"), home && join(home, ".gitconfig")];
  const configs = own === undefined ? usual : [filled(own)];
  return {
    ...(home !== undefined && { home }),
    configs: [...system, ...configs].filter((path) => path !== undefined),
    ...(config !== undefined && { ignore: join(config, "git", "ignore") }),
  };
}

function filled(value: string | undefined): string | undefined {
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
