import type { FlagName, FlagValues, GlobalFlag } from "./flag-table.js";

interface CommandRow<F extends FlagName> {
  /** The name and the arguments: `<required>`, `[optional]`, `[...several]`. */
  readonly usage: string;
  readonly description: string;
  /** The flags it accepts besides the global ones, in the order of its help text. Its context has exactly these. */
  readonly flags: readonly F[];
  /** Descriptions of flags that mean something special in this command. */
  readonly describe?: { readonly [N in NoInfer<F>]?: string };
  /** True if the command may write a conversation. */
  readonly writes?: true;
}

const modelFlags = ["model", "provider", "api", "baseUrl"] as const;
const placeFlags = ["layout", "conversationDir"] as const;
/** The settings of a conversation that a command opens. */
const settingFlags = [...modelFlags, "approvalPolicy", "sandbox", "noPersistence", ...placeFlags] as const;
/** Choose an existing conversation instead of the active one. */
const choiceFlags = ["resume", "continue"] as const;
const listFlags = ["limit", "cursor", "sort", "project", "all", "codex", ...placeFlags] as const;

const layoutOfSaved = { layout: "Use the directory of this layout: cody, codex or project" } as const;

/** Every command, in the order of the help text. */
const commandTable = {
  new: command({
    usage: "new",
    description: "Start a conversation and print its id",
    flags: ["name", ...settingFlags],
    writes: true,
  }),
  chat: command({
    usage: "chat [...text]",
    description: "Send a message (reads stdin if no text is given)",
    flags: ["name", "outputSchema", "noStdin", "recordedCwd", ...choiceFlags, "force", ...settingFlags],
    writes: true,
  }),
  list: command({
    usage: "list",
    description: "List saved conversations",
    flags: listFlags,
    describe: layoutOfSaved,
  }),
  search: command({
    usage: "search <...words>",
    description: "Search conversations (all words must match)",
    flags: ["limit", "since", "project", "all", "codex", ...placeFlags],
    describe: { limit: "Maximum number of conversations (default: 20)", ...layoutOfSaved },
  }),
  index: command({
    usage: "index [action]",
    description: "Update the search index; actions: rebuild, status",
    flags: ["all", "codex", ...placeFlags],
    describe: layoutOfSaved,
  }),
  stats: command({
    usage: "stats",
    description: "Show turns, tokens and cost per model and project",
    flags: ["since", "project", "all", "codex", ...placeFlags],
    describe: layoutOfSaved,
  }),
  resume: command({
    usage: "resume [id]",
    description: "Make a saved conversation (id, name or file) the active one",
    flags: ["codex", "last", "fork", "recordedCwd", ...choiceFlags, "force", ...settingFlags],
    writes: true,
  }),
  fork: command({
    usage: "fork [id]",
    description: "Fork a conversation, optionally from an earlier turn",
    flags: ["afterTurn", "name", "recordedCwd", "codex", ...choiceFlags, ...settingFlags],
    describe: { name: "Name of the copy: 1 to 100 printable characters" },
    writes: true,
  }),
  rename: command({
    usage: "rename <id> <name>",
    description: "Rename a conversation",
    flags: ["codex", "force", "noPersistence", ...placeFlags],
    describe: layoutOfSaved,
    writes: true,
  }),
  relink: command({
    usage: "relink [old] [new]",
    description: "List missing project folders, or set the new path of one",
    flags: placeFlags,
    describe: layoutOfSaved,
  }),
  pin: command({
    usage: "pin <id>",
    description: "Exclude a conversation from clean-up (not related to /pin in the prompt)",
    flags: ["codex", "force", "noPersistence", ...placeFlags],
    describe: layoutOfSaved,
    writes: true,
  }),
  unpin: command({
    usage: "unpin <id>",
    description: "Include a pinned conversation in clean-up again",
    flags: ["codex", "force", "noPersistence", ...placeFlags],
    describe: layoutOfSaved,
    writes: true,
  }),
  clean: command({
    usage: "clean",
    description: "Move conversations older than 7 days to the trash",
    flags: ["olderThan", "all", "project", "dryRun", "trash", "yes", ...placeFlags],
    describe: {
      all: "All conversations of this project; with --trash, everything in the trash",
      dryRun: "Show what would be moved, without moving it",
      yes: "Confirm permanent deletion",
      ...layoutOfSaved,
    },
  }),
  delete: command({
    usage: "delete <...ids>",
    description: "Move conversations (id, name or file) to the trash; restore with undelete",
    flags: placeFlags,
    describe: layoutOfSaved,
  }),
  undelete: command({
    usage: "undelete [id]",
    description: "Restore a conversation from the trash; lists the trash if no id is given",
    flags: ["list", ...placeFlags],
    describe: { list: "List the trash (default if no id is given)", ...layoutOfSaved },
  }),
  compact: command({
    usage: "compact [...instructions]",
    description: "Summarize the older part of the active conversation",
    flags: ["dryRun", "strategy", "undo", ...choiceFlags, "force", ...settingFlags],
    describe: {
      dryRun: "Show what would be kept and dropped, without a model call or a change",
      undo: "Restore the history from before the last compaction",
    },
    writes: true,
  }),
  context: command({
    usage: "context [id]",
    description: "Show what fills a conversation's context window",
    flags: [...choiceFlags, ...modelFlags, "approvalPolicy", "sandbox", ...placeFlags],
    describe: layoutOfSaved,
  }),
  diff: command({
    usage: "diff [id]",
    description: "Show a conversation's file changes as a git patch",
    flags: ["turn", "stat", ...choiceFlags, ...placeFlags],
    describe: layoutOfSaved,
  }),
  undo: command({
    usage: "undo [id]",
    description: "Revert the last turn's file changes (preview unless --yes)",
    flags: ["turn", "undo", "overwrite", "yes", ...choiceFlags, "force", ...placeFlags],
    describe: {
      turn: "Revert this turn, counted from 1, instead of the last one that changed files",
      ...layoutOfSaved,
    },
  }),
  "set-provider": command({
    usage: "set-provider <provider>",
    description: "Set the default provider (with --api, --model, --base-url)",
    flags: ["api", "model", "baseUrl"],
  }),
  "set-auth": command({
    usage: "set-auth <method> [key]",
    description: "Set the auth method; use - to enter and store a key",
    flags: ["keyring"],
  }),
  auth: command({ usage: "auth [action]", description: "Show authentication status", flags: [] }),
  login: command({
    usage: "login",
    description: "Log in with ChatGPT in a browser",
    flags: ["port"],
    describe: { port: "Port for the browser's callback (default: 1455, the one ChatGPT accepts)" },
  }),
  logout: command({ usage: "logout", description: "Delete the tokens of cody's own login", flags: [] }),
  models: command({
    usage: "models",
    description: "List known models with context windows and prices",
    flags: [],
  }),
  config: command({
    usage: "config [action] [key] [value]",
    description: "Show the configuration; actions: get KEY, set KEY VALUE, unset KEY, path",
    flags: ["explain", ...settingFlags],
  }),
  knowledge: command({
    usage: "knowledge [action] [...words]",
    description:
      "Show this project's saved knowledge; actions: list, add, undo (a model's entry), remove, prune, export, import",
    flags: ["type", "confidence", "tags", "supersedes", "olderThan", "dryRun", "output", "all"],
    describe: {
      olderThan: "With prune: also remove entries older than 12h, 7d or 2w",
      dryRun: "With prune: show what would be removed, without removing it",
      output: "With export: write to this file instead of stdout",
      all: "With list: include replaced entries",
    },
  }),
  mcp: command({
    usage: "mcp [action] [name] [...command]",
    description: "List MCP servers; actions: add NAME -- COMMAND, remove, test, login, logout NAME",
    flags: ["url", "bearerTokenEnvVar", "env", "port", "replace"],
    describe: { port: "With login: port for the browser's callback (default: any free port)" },
  }),
  trust: command({
    usage: "trust [path]",
    description: "Trust this project's config and MCP servers, and let models save knowledge without approval",
    flags: ["undo", "list"],
    describe: { undo: "Stop trusting the project", list: "List trusted and untrusted projects" },
  }),
  export: command({
    usage: "export [id]",
    description: "Export a conversation to a file",
    flags: ["format", "output", "all", "codex", ...choiceFlags, "noPersistence", ...placeFlags],
    describe: { all: "Export all conversations of this project", ...layoutOfSaved },
  }),
  import: command({
    usage: "import <path>",
    description: "Import a conversation from another program, or a folder of them",
    flags: ["from", "dryRun", "force", "noPersistence", ...placeFlags],
    describe: {
      dryRun: "Show what would be imported and what would be lost, without writing anything",
      force: "Also import what was imported before",
    },
    writes: true,
  }),
  check: command({
    usage: "check <id>",
    description: "Preview what would be sent to the model",
    flags: ["wire", "model", "codex", ...placeFlags],
    describe: { model: "Model to check for (default: the conversation's)", ...layoutOfSaved },
  }),
  repair: command({
    usage: "repair <id>",
    description: "Find damaged lines in a conversation; --write removes them",
    flags: ["write", "codex", "force", ...placeFlags],
    describe: {
      write: "Repair the file and keep the original next to it (default: preview only)",
      ...layoutOfSaved,
    },
  }),
  output: command({
    usage: "output <id> [call]",
    description: "Show full tool outputs that were truncated",
    flags: placeFlags,
    describe: layoutOfSaved,
  }),
  scrub: command({
    usage: "scrub <id>",
    description: "Find secrets in a saved conversation; --write removes them",
    flags: ["write", "dryRun", "pattern", "stdin", "noShapes", "codex", "force", ...placeFlags],
    describe: {
      write: "Remove the secrets without keeping a copy of the old file (default: preview only)",
      dryRun: "Preview only (the default without --write)",
      ...layoutOfSaved,
    },
  }),
  doctor: command({
    usage: "doctor",
    description: "Check all stored files and suggest fixes (read-only)",
    flags: ["codex", ...placeFlags],
    describe: layoutOfSaved,
  }),
  "mock-llm": command({
    usage: "mock-llm",
    description: "Run a local mock server for the three model APIs, to test agents",
    flags: ["port", "script", "noStrict", "log"],
  }),
  help: command({ usage: "help [command]", description: "Show help for cody or for one command", flags: [] }),
  version: command({ usage: "version", description: "Print the version", flags: [] }),
  /** `cody` without a command. */
  "": command({
    usage: "",
    description: "Start an interactive conversation, or answer each line of stdin",
    flags: [
      ...choiceFlags,
      "recordedCwd",
      "force",
      ...settingFlags,
      "list",
      "limit",
      "cursor",
      "sort",
      "project",
      "all",
      "codex",
    ],
    describe: {
      limit: "With --list: maximum number of conversations",
      cursor: "With --list: continue after the last row of an earlier list with --limit",
      sort: "With --list: by updated (default), created, name or size",
      project: "With --list: only conversations of this project",
      all: "With --list: include all locations: cody's default and configured directories, and Codex's",
    },
    writes: true,
  }),
};

/** Checks a row, and lets its type know the flags by name. */
function command<const F extends FlagName = never>(row: CommandRow<F>): CommandRow<F> {
  return row;
}

export type CommandName = keyof typeof commandTable;

/** The values of the flags a command accepts. */
export type CommandFlags<N extends CommandName> = FlagValues<(typeof commandTable)[N]["flags"][number] | GlobalFlag>;

/** All commands in the order of the help text. */
export const commandNames = Object.keys(commandTable) as readonly CommandName[];

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name);
}

export function commandRow(name: CommandName): CommandRow<FlagName> {
  return commandTable[name];
}
