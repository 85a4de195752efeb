import { join, resolve } from "node:path";
import { InvalidInputError } from "../base/errors.js";

export interface HomePaths {
  readonly conversations: string;
  readonly logs: string;
  /** The folder with one active-conversation pointer per project. */
  readonly active: string;
  /** The new locations of projects that were moved. */
  readonly relinks: string;
  /**
   * Cached heads of the conversations. Not in the conversations' directory, because writing there would change its
   * modification time.
   */
  readonly heads: string;
  /** Cached heads of Codex's rollouts. cody writes none of its own files into Codex's directory. */
  readonly codexHeads: string;
  /** The conversations that cody has created in Codex's directory. */
  readonly codexRegister: string;
  /** Cached heads of those conversations. */
  readonly registeredHeads: string;
  /** The search index: a copy of the conversations' texts that can be rebuilt. */
  readonly index: string;
  /** The pinned conversations among Codex's. */
  readonly codexPins: string;
  /** Snapshots of the files in each workspace, as the last turn saw them. */
  readonly workspaces: string;
  /** The projects whose own configuration the user trusts. */
  readonly trust: string;
  /** Deleted conversations, until they are removed permanently. */
  readonly trash: string;
  /** The pending removals that were announced to the user, with their times. */
  readonly retention: string;
  /** Login tokens, which only cody uses. */
  readonly tokens: string;
  /** A log line for each conversation that was announced, moved, restored or removed. */
  readonly retentionLog: string;
}

/** The folder with all of a user's cody files: `$CODY_HOME`, else `~/.cody`. */
export function codyHome({ env, homedir }: { env: Readonly<NodeJS.ProcessEnv>; homedir: string }): string {
  const home = env["CODY_HOME"];
  return home === undefined || home === "" ? join(homedir, ".cody") : resolve(home);
}

export function homePaths(home: string): HomePaths {
  return {
    conversations: join(home, "conversations"),
    logs: join(home, "logs"),
    active: join(home, "active"),
    relinks: join(home, "relinks.json"),
    heads: join(home, "heads.json"),
    codexHeads: join(home, "codex-heads.json"),
    codexRegister: join(home, "codex-conversations.jsonl"),
    registeredHeads: join(home, "codex-conversation-heads.json"),
    index: join(home, "index.sqlite"),
    codexPins: join(home, "codex-pins.jsonl"),
    workspaces: join(home, "workspaces"),
    trust: join(home, "trust.json"),
    trash: join(home, "trash"),
    retention: join(home, "retention.json"),
    tokens: join(home, "tokens.json"),
    retentionLog: join(home, "retention.jsonl"),
  };
}

/** Codex's home: `$CODEX_HOME`, else `~/.codex`; undefined for a user without a home directory. */
export function resolveCodexHome(input: {
  env: Readonly<NodeJS.ProcessEnv>;
  homedir: () => string;
}): string | undefined {
  const home = input.env["CODEX_HOME"];
  if (home !== undefined && home !== "") return resolve(home);
  try {
    return join(input.homedir(), ".codex");
  } catch {
    return undefined;
  }
}

/** Claude Code's home: `$CLAUDE_CONFIG_DIR`, else `~/.claude`; undefined for a user without a home directory. */
export function resolveClaudeHome(input: {
  env: Readonly<NodeJS.ProcessEnv>;
  homedir: () => string;
}): string | undefined {
  const home = input.env["CLAUDE_CONFIG_DIR"];
  if (home !== undefined && home !== "") return resolve(home);
  try {
    return join(input.homedir(), ".claude");
  } catch {
    return undefined;
  }
}

/** The folders in which cody, and the programs whose files it also reads, keep a user's files. */
export interface Homes {
  /** cody's own folder. */
  readonly home: string;
  readonly codexHome: string | undefined;
  readonly claudeHome: string | undefined;
}

export interface HomesInput {
  /** Overrides the folder that the environment names. */
  readonly home?: string | undefined;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly homedir: () => string;
}

export function resolveHomes({ home, env, homedir }: HomesInput): Homes {
  if (home === "") throw new InvalidInputError("home: expected the path of a directory");
  return {
    // Made absolute, because the working directory may change later.
    home: home === undefined ? codyHome({ env, homedir: homedir() }) : resolve(home),
    codexHome: resolveCodexHome({ env, homedir }),
    claudeHome: resolveClaudeHome({ env, homedir }),
  };
}
