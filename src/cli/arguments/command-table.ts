import type { FlagName, FlagValues, GlobalFlag } from "./flag-table.js";

interface CommandRow<F extends FlagName> {
  /** The name and the arguments: `<required>`, `[optional]`, `[...several]`. */
  readonly usage: string;
  readonly description: string;
  readonly examples: readonly [string, string];
  /** The flags it accepts besides the global ones, in the order of its help text. Its context has exactly these. */
  readonly flags: readonly F[];
  /** Descriptions of flags that mean something special in this command. */
  readonly describe?: { readonly [N in NoInfer<F> | GlobalFlag]?: string };
  /** True if the command may write a conversation. */
  readonly writes?: true;
}

const modelFlags = ["model", "provider", "api", "baseUrl"] as const;
const placeFlags = ["layout", "conversationDir"] as const;
/** The settings of a conversation that a command opens. */
const settingFlags = [...modelFlags, "approvalPolicy", "sandbox", "noPersistence", ...placeFlags] as const;
/** For programs that start Claude Code. */
const streamFlags = [
  "outputFormat",
  "inputFormat",
  "permissionMode",
  "permissionPromptTool",
  "allowedTools",
  "disallowedTools",
  "tools",
  "allowDangerouslySkipPermissions",
  "dangerouslySkipPermissions",
  "includePartialMessages",
  "jsonSchema",
  "sessionId",
  "forkSession",
  "effort",
  "mcpConfig",
  "settingSources",
  "fallbackModel",
  "maxThinkingTokens",
  "thinking",
  "betas",
  "strictMcpConfig",
  "verbose",
] as const;
/** The flags that change for one run what tools may do. */
const toolFlags = ["addDir", "allow", "deny"] as const;
/** Choose an existing conversation instead of the active one. */
const choiceFlags = ["resume", "continue"] as const;
const listFlags = ["limit", "cursor", "sort", "project", "all", "codex", ...placeFlags] as const;

const layoutOfSaved = { layout: "Use the directory of this layout: cody, codex or project" } as const;

/** Every command, in the order of the help text. */
const commandTable = {
  new: command({
    usage: "new",
    description: "Start a conversation and print its id",
    examples: ["cody new", 'cody new --name "parser rewrite" --model gpt-5'],
    flags: ["name", ...settingFlags],
    writes: true,
  }),
  chat: command({
    usage: "chat [...text]",
    description: "Send a message (reads stdin if no text is given)",
    examples: ['cody chat "explain src/main.ts"', 'git diff | cody chat "review this"'],
    flags: ["name", "outputSchema", "noStdin", "recordedCwd", ...choiceFlags, "force", ...settingFlags, ...toolFlags],
    writes: true,
  }),
  exec: command({
    usage: "exec [...prompt]",
    description: "Run one prompt without questions and print only the answer; exec resume <id> continues one",
    examples: [
      'cody exec "list the TODOs in src" -o todos.md',
      'cody exec resume --last "fix the first one" --full-auto',
    ],
    flags: [
      "output",
      "outputSchema",
      "image",
      "fullAuto",
      "maxTurns",
      "maxCost",
      "timeout",
      "quiet",
      "last",
      ...choiceFlags,
      "noStdin",
      "name",
      "config",
      "cd",
      "recordedCwd",
      "force",
      ...settingFlags,
      ...toolFlags,
      "skipGitRepoCheck",
      "threadSource",
      "cyberAccessProgram",
      ...streamFlags,
    ],
    describe: {
      output: "Also write the answer to this file",
      last: "With resume: this project's latest conversation",
      json: "Print the events of codex exec --json instead of the answer",
      approvalPolicy: "When to ask for approval (default: never; what would ask is refused)",
      sandbox: "What tools may access (default: read-only)",
    },
    writes: true,
  }),
  run: command({
    usage: "run [file]",
    description: "Run many tasks, one JSON object per line of a file or stdin, each in a conversation of its own",
    examples: ["cody run tasks.jsonl -o results.jsonl --concurrency 8", "generate-tasks | cody run - --max-cost 5"],
    flags: [
      "output",
      "concurrency",
      "maxCost",
      "maxTurns",
      "timeout",
      "fullAuto",
      "quiet",
      "config",
      "cd",
      "addDir",
      ...settingFlags,
    ],
    describe: {
      output: "Results file; run again with the same one, finished tasks are skipped and started ones continue",
      maxCost: "Begin no further task when this much, in US dollars, was spent",
      maxTurns: "Maximum number of model calls of each task",
      timeout: "Maximum working time of each task",
      approvalPolicy: "When to ask for approval (default: never; what would ask is refused)",
      sandbox: "What tools may access (default: read-only)",
    },
    writes: true,
  }),
  ps: command({
    usage: "ps",
    description: "List the conversations that are open in any process of yours on this machine",
    examples: ["cody ps", "cody ps --json"],
    flags: ["all"],
    describe: { all: "Also processes with another home ($CODY_HOME)" },
  }),
  attach: command({
    usage: "attach <id>",
    description: "Show what an open conversation does, and talk to it; Ctrl-D detaches",
    examples: ["cody attach conv_0199", 'cody attach "parser rewrite"'],
    flags: ["since"],
    describe: { since: "Begin after this event, or with 0 at the oldest one that is in memory" },
  }),
  tail: command({
    usage: "tail <id>",
    description: "Print what an open conversation does, until it is closed",
    examples: ["cody tail conv_0199", "cody tail conv_0199 --since 1f2e3d4c-17 --json"],
    flags: ["since"],
    describe: {
      since: "Begin after this event, or with 0 at the oldest one that is in memory",
      json: "Print each event as a line of JSON with its event_id",
    },
  }),
  send: command({
    usage: "send <id> [...text]",
    description: "Send a message to an open conversation (reads stdin if no text is given)",
    examples: ['cody send conv_0199 "also update the tests"', 'cody send conv_0199 --steer "use rg instead"'],
    flags: ["steer", "queue", "key", "recordedCwd", ...placeFlags],
    describe: layoutOfSaved,
  }),
  stop: command({
    usage: "stop <id>",
    description: "Interrupt the turn of an open conversation and drop the messages that wait",
    examples: ["cody stop conv_0199", 'cody stop "parser rewrite" --json'],
    flags: [],
  }),
  approvals: command({
    usage: "approvals [action] [id] [...answer]",
    description: "List the calls that wait for approval; actions: list, show ID, answer ID yes|always|project|no|stop",
    examples: ["cody approvals", 'cody approvals answer 5f0c no "use rg instead"'],
    flags: ["now", "recordedCwd", "force", ...modelFlags, "approvalPolicy", "sandbox", ...toolFlags, ...placeFlags],
    describe: layoutOfSaved,
  }),
  daemon: command({
    usage: "daemon [action]",
    description: "Keep conversations open in the background; actions: start, status, stop, logs, unit (for systemd)",
    examples: ["cody daemon start", "cody daemon status --json"],
    flags: [],
  }),
  list: command({
    usage: "list",
    description: "List saved conversations",
    examples: ["cody list --project", "cody list --limit 20 --json"],
    flags: listFlags,
    describe: layoutOfSaved,
  }),
  search: command({
    usage: "search <...words>",
    description: "Search conversations (all words must match)",
    examples: ["cody search retry delay", "cody search --project --since 7d flaky test"],
    flags: ["limit", "since", "project", "all", "codex", ...placeFlags],
    describe: { limit: "Maximum number of conversations (default: 20)", ...layoutOfSaved },
  }),
  index: command({
    usage: "index [action]",
    description: "Update the search index; actions: rebuild, status",
    examples: ["cody index status", "cody index rebuild"],
    flags: ["all", "codex", ...placeFlags],
    describe: layoutOfSaved,
  }),
  stats: command({
    usage: "stats",
    description: "Show turns, tokens and cost per model and project",
    examples: ["cody stats", "cody stats --since 30d --project"],
    flags: ["since", "project", "all", "codex", ...placeFlags],
    describe: layoutOfSaved,
  }),
  resume: command({
    usage: "resume [id]",
    description: "Make a saved conversation (id, name or file) the active one",
    examples: ["cody resume --last", 'cody resume "parser rewrite"'],
    flags: ["codex", "last", "fork", "recordedCwd", ...choiceFlags, "force", ...settingFlags, ...toolFlags, "plain"],
    writes: true,
  }),
  fork: command({
    usage: "fork [id]",
    description: "Fork a conversation, optionally from an earlier turn",
    examples: ["cody fork", 'cody fork conv_0199 --after-turn 3 --name "other way"'],
    flags: ["afterTurn", "name", "recordedCwd", "codex", ...choiceFlags, ...settingFlags],
    describe: { name: "Name of the copy: 1 to 100 printable characters" },
    writes: true,
  }),
  rename: command({
    usage: "rename <id> <name>",
    description: "Rename a conversation",
    examples: ['cody rename conv_0199 "parser rewrite"', 'cody rename "parser rewrite" parser'],
    flags: ["codex", "force", "noPersistence", ...placeFlags],
    describe: layoutOfSaved,
    writes: true,
  }),
  relink: command({
    usage: "relink [old] [new]",
    description: "List missing project folders, or set the new path of one",
    examples: ["cody relink", "cody relink ~/old/app ~/new/app"],
    flags: placeFlags,
    describe: layoutOfSaved,
  }),
  pin: command({
    usage: "pin <id>",
    description: "Exclude a conversation from clean-up (not related to /pin in the prompt)",
    examples: ["cody pin conv_0199", 'cody pin "parser rewrite"'],
    flags: ["codex", "force", "noPersistence", ...placeFlags],
    describe: layoutOfSaved,
    writes: true,
  }),
  unpin: command({
    usage: "unpin <id>",
    description: "Include a pinned conversation in clean-up again",
    examples: ["cody unpin conv_0199", 'cody unpin "parser rewrite"'],
    flags: ["codex", "force", "noPersistence", ...placeFlags],
    describe: layoutOfSaved,
    writes: true,
  }),
  clean: command({
    usage: "clean",
    description: "Move conversations older than 7 days to the trash",
    examples: ["cody clean --dry-run", "cody clean --older-than 2w"],
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
    examples: ["cody delete conv_0199", 'cody delete "parser rewrite" conv_019a'],
    flags: placeFlags,
    describe: layoutOfSaved,
  }),
  undelete: command({
    usage: "undelete [id]",
    description: "Restore a conversation from the trash; lists the trash if no id is given",
    examples: ["cody undelete", "cody undelete conv_0199"],
    flags: ["list", ...placeFlags],
    describe: { list: "List the trash (default if no id is given)", ...layoutOfSaved },
  }),
  compact: command({
    usage: "compact [...instructions]",
    description: "Summarize the older part of the active conversation",
    examples: ["cody compact --dry-run", 'cody compact "keep the list of open bugs"'],
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
    examples: ["cody context", "cody context conv_0199 --model gpt-5"],
    flags: [...choiceFlags, ...modelFlags, "approvalPolicy", "sandbox", ...placeFlags],
    describe: layoutOfSaved,
  }),
  diff: command({
    usage: "diff [id]",
    description: "Show a conversation's file changes as a git patch",
    examples: ["cody diff --stat", "cody diff conv_0199 | git apply"],
    flags: ["turn", "stat", ...choiceFlags, ...placeFlags],
    describe: layoutOfSaved,
  }),
  undo: command({
    usage: "undo [id]",
    description: "Revert the last turn's file changes (preview unless --yes)",
    examples: ["cody undo", "cody undo --turn 2 --yes"],
    flags: ["turn", "undo", "overwrite", "yes", ...choiceFlags, "force", ...placeFlags],
    describe: {
      turn: "Revert this turn, counted from 1, instead of the last one that changed files",
      ...layoutOfSaved,
    },
  }),
  "set-provider": command({
    usage: "set-provider <provider>",
    description: "Set the default provider (with --api, --model, --base-url)",
    examples: [
      "cody set-provider openai --model gpt-5",
      "cody set-provider local --base-url http://127.0.0.1:8080/v1 --model qwen3",
    ],
    flags: ["api", "model", "baseUrl"],
  }),
  providers: command({
    usage: "providers",
    description: "List known providers, and which have a key or login",
    examples: ["cody provider list", "cody provider list --json"],
    flags: [],
  }),
  "set-auth": command({
    usage: "set-auth <method> [key]",
    description: "Set the auth method; use - to enter and store a key",
    examples: ["cody set-auth openai-api-key -", "cody set-auth chatgpt-oauth"],
    flags: ["keyring"],
  }),
  auth: command({
    usage: "auth [action]",
    description: "Show authentication status",
    examples: ["cody auth status", "cody auth status --json"],
    flags: [],
  }),
  login: command({
    usage: "login",
    description: "Log in with ChatGPT in a browser",
    examples: ["cody login", "cody login --port 1455"],
    flags: ["port"],
    describe: { port: "Port for the browser's callback (default: 1455, the one ChatGPT accepts)" },
  }),
  logout: command({
    usage: "logout",
    description: "Delete the tokens of cody's own login",
    examples: ["cody logout", "cody logout --json"],
    flags: [],
  }),
  models: command({
    usage: "models",
    description: "List known models with context windows and prices",
    examples: ["cody models", "cody models --json"],
    flags: [],
  }),
  config: command({
    usage: "config [action] [key] [value]",
    description: "Show the configuration; actions: get KEY, set KEY VALUE, unset KEY, path",
    examples: ["cody config --explain", "cody config set compaction.ratio 0.7"],
    flags: ["explain", ...settingFlags],
  }),
  knowledge: command({
    usage: "knowledge [action] [...words]",
    description:
      "Show this project's saved knowledge; actions: list, add, undo (a model's entry), remove, prune, export, import",
    examples: ["cody knowledge list", 'cody knowledge add "tests run with npm test" --type pattern'],
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
    examples: ["cody mcp add files -- npx -y @modelcontextprotocol/server-filesystem .", "cody mcp test files"],
    flags: ["url", "bearerTokenEnvVar", "env", "port", "replace"],
    describe: { port: "With login: port for the browser's callback (default: any free port)" },
  }),
  hooks: command({
    usage: "hooks [action]",
    description: "List hooks, and whether they run; action: list",
    examples: ["cody hooks", "cody hooks list --json"],
    flags: [],
  }),
  permissions: command({
    usage: "permissions [action] [...rule]",
    description:
      "List the rules about commands, files and tools; actions: test COMMAND, allow, ask, deny, remove RULE, import [FILE]",
    examples: ["cody permissions allow 'npm test *'", 'cody permissions test "git push"'],
    flags: ["project", "match", "notMatch", "dryRun", "approvalPolicy", "sandbox"],
    describe: {
      project: "Only for this project, instead of everywhere",
      dryRun: "With import: show what would be imported, without writing anything",
    },
  }),
  trust: command({
    usage: "trust [path]",
    description: "Trust this project's config, hooks and MCP servers, and let models save knowledge without approval",
    examples: ["cody trust", "cody trust --list"],
    flags: ["undo", "list"],
    describe: { undo: "Stop trusting the project", list: "List trusted and untrusted projects" },
  }),
  show: command({
    usage: "show [id]",
    description: "Print a conversation as Markdown",
    examples: ["cody conversation show conv_0199", 'cody conversation show "parser rewrite" | less'],
    flags: ["codex", ...choiceFlags, ...placeFlags],
    describe: layoutOfSaved,
  }),
  export: command({
    usage: "export [id]",
    description: "Export a conversation to a file",
    examples: ["cody export conv_0199 --format html", "cody export --all --format markdown"],
    flags: ["format", "output", "all", "codex", ...choiceFlags, "noPersistence", ...placeFlags],
    describe: { all: "Export all conversations of this project", ...layoutOfSaved },
  }),
  import: command({
    usage: "import <path>",
    description: "Import a conversation from another program, or a folder of them",
    examples: ["cody import ~/.claude/projects --dry-run", "cody import rollout.jsonl"],
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
    examples: ["cody check conv_0199", "cody check conv_0199 --wire messages"],
    flags: ["wire", "model", "codex", ...placeFlags],
    describe: { model: "Model to check for (default: the conversation's)", ...layoutOfSaved },
  }),
  repair: command({
    usage: "repair <id>",
    description: "Find damaged lines in a conversation; --write removes them",
    examples: ["cody repair conv_0199", "cody repair conv_0199 --write"],
    flags: ["write", "codex", "force", ...placeFlags],
    describe: {
      write: "Repair the file and keep the original next to it (default: preview only)",
      ...layoutOfSaved,
    },
  }),
  output: command({
    usage: "output <id> [call]",
    description: "Show full tool outputs that were truncated",
    examples: ["cody output conv_0199", "cody output conv_0199 call_1"],
    flags: placeFlags,
    describe: layoutOfSaved,
  }),
  scrub: command({
    usage: "scrub <id>",
    description: "Find secrets in a saved conversation; --write removes them",
    examples: ["cody scrub conv_0199", "cody scrub conv_0199 --pattern token,password --write"],
    flags: ["write", "dryRun", "pattern", "stdin", "noShapes", "codex", "force", ...placeFlags],
    describe: {
      write: "Remove the secrets without keeping a copy of the old file (default: preview only)",
      dryRun: "Preview only (the default without --write)",
      ...layoutOfSaved,
    },
  }),
  sandbox: command({
    usage: "sandbox [action] [...command]",
    description: "Show whether the sandbox works (status), or run a command in it (run)",
    examples: ["cody sandbox status", "cody sandbox run -- npm test"],
    flags: ["sandbox"],
  }),
  doctor: command({
    usage: "doctor",
    description: "Check all stored files and suggest fixes (read-only)",
    examples: ["cody doctor", "cody doctor --json"],
    flags: ["codex", ...placeFlags],
    describe: layoutOfSaved,
  }),
  "mock-llm": command({
    usage: "mock-llm",
    description: "Run a local mock server for the three model APIs, to test agents",
    examples: ["cody mock-llm --port 8080", "cody mock-llm --script answers.json --log requests.jsonl"],
    flags: ["port", "script", "noStrict", "log"],
  }),
  demo: command({
    usage: "demo",
    description: "Take a tour of the everyday commands, with the offline model in a temporary folder",
    examples: ["cody demo", "cody demo | less"],
    flags: [],
  }),
  completion: command({
    usage: "completion [shell]",
    description: "Print the completion script of a shell (bash, zsh or fish), or with man the man page",
    examples: ["cody completion fish | source", "cody completion man | man -l -"],
    flags: ["conversations"],
  }),
  help: command({
    usage: "help [...command]",
    description: "Show help for cody, one command or one group",
    examples: ["cody help chat", "cody help --all"],
    flags: ["all"],
    describe: { all: "List every command" },
  }),
  version: command({
    usage: "version",
    description: "Print the version",
    examples: ["cody version", "cody --version"],
    flags: [],
  }),
  /** `cody` without a command. */
  "": command({
    usage: "[...prompt]",
    description: "Start an interactive conversation, or answer each line of stdin",
    examples: ["cody", 'cody "explain this project"'],
    flags: [
      "print",
      ...choiceFlags,
      "recordedCwd",
      "force",
      ...settingFlags,
      ...toolFlags,
      "plain",
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

/** A first word that several commands share: `cody conversation search` is `cody search`. */
export interface CommandGroup {
  readonly name: string;
  /** Other words for the same group. */
  readonly aliases: readonly string[];
  readonly description: string;
  /** The second word, and the command it runs. */
  readonly commands: Readonly<Record<string, CommandName>>;
}

/** The groups in the order of the help text. */
export const commandGroups: readonly CommandGroup[] = [
  {
    name: "conversation",
    aliases: ["conv", "session"],
    description: "Find, show, organize and clean up saved conversations",
    commands: {
      list: "list",
      search: "search",
      show: "show",
      rename: "rename",
      pin: "pin",
      unpin: "unpin",
      delete: "delete",
      restore: "undelete",
      export: "export",
      import: "import",
      clean: "clean",
      stats: "stats",
    },
  },
  {
    name: "auth",
    aliases: [],
    description: "Keys and logins",
    commands: { status: "auth", login: "login", logout: "logout", set: "set-auth" },
  },
  {
    name: "provider",
    aliases: [],
    description: "Choose who answers",
    commands: { list: "providers", set: "set-provider" },
  },
  {
    name: "debug",
    aliases: [],
    description: "Inspect and repair stored files, and mock a model",
    commands: {
      check: "check",
      repair: "repair",
      output: "output",
      scrub: "scrub",
      index: "index",
      relink: "relink",
      "mock-llm": "mock-llm",
    },
  },
];

/** The commands that the first level of help lists besides the groups. */
export const everydayCommands: readonly CommandName[] = [
  "chat",
  "exec",
  "run",
  "new",
  "list",
  "resume",
  "fork",
  "ps",
  "attach",
  "tail",
  "send",
  "stop",
  "approvals",
  "daemon",
  "compact",
  "context",
  "diff",
  "undo",
  "set-provider",
  "set-auth",
  "models",
  "config",
  "mcp",
  "hooks",
  "knowledge",
  "permissions",
  "trust",
  "sandbox",
  "doctor",
  "demo",
  "completion",
  "help",
  "version",
];

/** The group of a first word. */
export function groupOf(word: string): CommandGroup | undefined {
  return commandGroups.find(({ name, aliases }) => name === word || aliases.includes(word));
}

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
