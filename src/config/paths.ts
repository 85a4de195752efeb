import { join, resolve } from "node:path";

export interface HomePaths {
  readonly conversations: string;
  readonly logs: string;
  /** One pointer for each project. */
  readonly active: string;
  readonly config: string;
}

/** Where cody keeps everything of one user: `$CODY_HOME`, else `~/.cody`. */
export function codyHome({ env, homedir }: { env: Readonly<NodeJS.ProcessEnv>; homedir: string }): string {
  const home = env["CODY_HOME"];
  return home === undefined || home === "" ? join(homedir, ".cody") : resolve(home);
}

export function homePaths(home: string): HomePaths {
  return {
    conversations: join(home, "conversations"),
    logs: join(home, "logs"),
    active: join(home, "active"),
    config: join(home, "config.json"),
  };
}
