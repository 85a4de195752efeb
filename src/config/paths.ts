import { join, resolve } from "node:path";
import { InvalidInputError } from "../base/errors.js";
import type { Config, Layout } from "../messages/settings/config.js";
import { configNames } from "./settings/config-names.js";
import { effectiveSetting } from "./settings/effective-settings.js";

interface HomePaths {
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
  /** The hooks and MCP servers of trusted projects, as digests. */
  readonly trustedCommands: string;
  /** The user's rules about commands, paths and tools. */
  readonly permissions: string;
  /** Deleted conversations, until they are removed permanently. */
  readonly trash: string;
  /** The pending removals that were announced to the user, with their times. */
  readonly retention: string;
  /** Login tokens, which only cody uses. */
  readonly tokens: string;
  /** A log line for each conversation that was announced, moved, restored or removed. */
  readonly retentionLog: string;
  /** The texts that the user has sent from the interactive screen. */
  readonly promptHistory: string;
  /** Lists what commands in the sandbox have put into workspaces, until it is removed again. */
  readonly sandbox: string;
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
    trustedCommands: join(home, "trusted-commands.json"),
    permissions: join(home, "permissions.json"),
    trash: join(home, "trash"),
    retention: join(home, "retention.json"),
    tokens: join(home, "tokens.json"),
    retentionLog: join(home, "retention.jsonl"),
    promptHistory: join(home, "prompt-history.jsonl"),
    sandbox: join(home, "sandbox"),
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

interface HomesInput {
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

/** The directories that hold conversations. */
export interface ConversationPlaces {
  readonly layout: Layout;
  /** New conversations are created here; a list shows all of them. */
  readonly directory: string;
  /** Directories searched for an id that is not in `directory`. */
  readonly elsewhere: readonly string[];
  /**
   * Directories of other layouts that a list also shows. From Codex's, only conversations that cody created are shown.
   */
  readonly alsoListed: readonly string[];
  /** Codex's home. Codex may be writing to its rollouts at the same time. */
  readonly codexHome: string | undefined;
  /** cody's home. */
  readonly home: string;
}

export interface PlacesInput {
  readonly home: string;
  readonly codexHome: string | undefined;
  readonly persistence: Config["persistence"];
  /** Whether a list shows only `directory`. */
  readonly listsOnlyDirectory?: boolean;
}

/**
 * A configured directory is the only one searched. Otherwise cody's and Codex's default directories each also find the
 * conversations in the other.
 */
export function conversationPlaces(input: PlacesInput): ConversationPlaces {
  const { home, codexHome, persistence, listsOnlyDirectory = false } = input;
  const layout = effectiveSetting({ persistence }, "persistence.layout");
  const own = homePaths(home).conversations;
  const codex = codexHome === undefined ? undefined : codexSessions(codexHome);
  const defaultDirectory = layout === "codex" ? codex : own;
  const directory = persistence?.directory === undefined ? defaultDirectory : resolve(home, persistence.directory);
  if (directory === undefined) throw new InvalidInputError("layout codex: no home directory found; set CODEX_HOME");
  const known = [own, ...(codex === undefined ? [] : [codex])];
  const elsewhere = known.includes(directory) ? known.filter((place) => place !== directory) : [];
  return { layout, directory, elsewhere, alsoListed: listsOnlyDirectory ? [] : elsewhere, codexHome, home };
}

/**
 * The directory under which the active conversation is recorded: the same for all layouts, unless a directory is
 * configured.
 */
export function activeDirectory({ directory, elsewhere, home }: ConversationPlaces): string {
  const own = homePaths(home).conversations;
  return elsewhere.includes(own) ? own : directory;
}

/** Every directory with conversations, including a configured one; the current directory comes first. */
export function everyDirectory(
  home: string,
  { directory, codexHome }: Pick<ConversationPlaces, "directory" | "codexHome">,
): string[] {
  const codex = codexHome === undefined ? [] : [codexSessions(codexHome)];
  return [...new Set([directory, homePaths(home).conversations, ...codex])];
}

/** Every searched directory, with the file that holds the names of its conversations. */
export function namedDirectories({
  directory,
  elsewhere,
  codexHome,
}: Pick<ConversationPlaces, "directory" | "elsewhere" | "codexHome">): { directory: string; names: string }[] {
  return [directory, ...elsewhere].map((place) => ({ directory: place, names: namesFile(place, codexHome) }));
}

/** Codex has its own file for names and shows only names from that file. */
export function namesFile(directory: string, codexHome: string | undefined): string {
  return codexHome !== undefined && directory === codexSessions(codexHome)
    ? join(codexHome, "session_index.jsonl")
    : join(directory, ".names.jsonl");
}

/** The file that lists a directory's pinned conversations. cody writes none of its own files into Codex's directory. */
export function pinsFile(directory: string, places: Pick<ConversationPlaces, "codexHome" | "home">): string {
  return isCodexDirectory(directory, places) ? homePaths(places.home).codexPins : join(directory, ".pins.jsonl");
}

/** Whether Codex keeps its rollouts in this directory. */
export function isCodexDirectory(directory: string, { codexHome }: Pick<ConversationPlaces, "codexHome">): boolean {
  return codexHome !== undefined && directory === codexSessions(codexHome);
}

/** The directory of Codex's rollouts. */
export function codexSessions(codexHome: string): string {
  return join(codexHome, "sessions");
}

/**
 * The files and folders that hold tokens, keys and permissions: cody's own, and the logins it borrows from other
 * programs.
 */
export function privatePaths({ home, codexHome, claudeHome }: Homes): string[] {
  const { tokens, trust, trustedCommands, permissions, logs, workspaces } = homePaths(home);
  return [
    tokens,
    ...configNames.map((name) => join(home, name)),
    trust,
    trustedCommands,
    permissions,
    logs,
    workspaces,
    ...(codexHome === undefined ? [] : [join(codexHome, "auth.json")]),
    ...(claudeHome === undefined ? [] : [join(claudeHome, ".credentials.json")]),
  ];
}

/** The folders with the conversations of cody, Codex and Claude Code, and what cody derives from them. */
export function conversationFolders({ home, codexHome, claudeHome }: Homes): string[] {
  const { conversations, trash, index, heads, codexHeads, active, promptHistory } = homePaths(home);
  return [
    conversations,
    trash,
    index,
    heads,
    codexHeads,
    active,
    promptHistory,
    ...(codexHome === undefined ? [] : [codexSessions(codexHome), join(codexHome, "history.jsonl")]),
    ...(claudeHome === undefined ? [] : [join(claudeHome, "projects"), join(claudeHome, "history.jsonl")]),
  ];
}
