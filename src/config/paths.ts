import { join, resolve } from "node:path";

export interface HomePaths {
  readonly conversations: string;
  readonly logs: string;
  /** One pointer for each project. */
  readonly active: string;
  /** Where projects are that were elsewhere. */
  readonly relinks: string;
  /** What the heads of the conversations said: in their own directory it would change the time of that. */
  readonly heads: string;
  /** What the heads of Codex's rollouts said: nothing of ours is put into its own directory. */
  readonly codexHeads: string;
  /** The conversations that cody has begun in Codex's directory. */
  readonly codexRegister: string;
  /** Cached heads of those conversations. */
  readonly registeredHeads: string;
  /** What was said, to be searched; only a copy. */
  readonly index: string;
  /** Which of Codex's conversations are pinned. */
  readonly codexPins: string;
  /** What the files of each workspace were when a turn last looked at them. */
  readonly workspaces: string;
  /** The projects whose own configuration may act. */
  readonly trust: string;
  /** Deleted conversations, until they are removed for good. */
  readonly trash: string;
  /** What was announced, and when. */
  readonly retention: string;
  /** Tokens of logins, for cody alone. */
  readonly tokens: string;
  /** A line for everything that was announced, moved, brought back or removed. */
  readonly retentionLog: string;
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

/** Codex's own home: `$CODEX_HOME`, else `~/.codex`; none for a user who has no home. */
export function codexHome(input: { env: Readonly<NodeJS.ProcessEnv>; homedir: () => string }): string | undefined {
  const home = input.env["CODEX_HOME"];
  if (home !== undefined && home !== "") return resolve(home);
  try {
    return join(input.homedir(), ".codex");
  } catch {
    return undefined;
  }
}

/** Claude Code's own home: `$CLAUDE_CONFIG_DIR`, else `~/.claude`; none for a user who has no home. */
export function claudeHome(input: { env: Readonly<NodeJS.ProcessEnv>; homedir: () => string }): string | undefined {
  const home = input.env["CLAUDE_CONFIG_DIR"];
  if (home !== undefined && home !== "") return resolve(home);
  try {
    return join(input.homedir(), ".claude");
  } catch {
    return undefined;
  }
}
