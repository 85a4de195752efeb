import { type CAC, cac } from "cac";
import { listCommand } from "../commands/conversations/list.js";
import type { Command } from "../context.js";
import {
  chatFlags,
  checkFlags,
  cleanFlags,
  compactFlags,
  configFlags,
  doctorFlags,
  forkFlags,
  diffFlags,
  exportFlags,
  globalFlags,
  indexFlags,
  importFlags,
  interactiveFlags,
  knowledgeFlags,
  listFlags,
  loginFlags,
  mcpFlags,
  mockLlmFlags,
  nameFlags,
  pinFlags,
  renameFlags,
  repairFlags,
  resumeFlags,
  searchFlags,
  setAuthFlags,
  statsFlags,
  scrubFlags,
  trustFlags,
  undeleteFlags,
  undoFlags,
} from "./flags.js";

/** Each command is imported only when it runs. */
const loaders = {
  list: () => Promise.resolve(listCommand),
  new: async () => (await import("../commands/conversations/new.js")).newCommand,
  chat: async () => (await import("../commands/chat/chat.js")).chatCommand,
  resume: async () => (await import("../commands/conversations/resume.js")).resumeCommand,
  fork: async () => (await import("../commands/conversations/fork.js")).forkCommand,
  rename: async () => (await import("../commands/conversations/rename.js")).renameCommand,
  pin: async () => (await import("../commands/conversations/pin.js")).pinCommand,
  unpin: async () => (await import("../commands/conversations/pin.js")).unpinCommand,
  compact: async () => (await import("../commands/chat/compact.js")).compactCommand,
  context: async () => (await import("../commands/chat/context.js")).contextCommand,
  "set-provider": async () => (await import("../commands/settings/set-provider.js")).setProviderCommand,
  "set-auth": async () => (await import("../commands/settings/set-auth.js")).setAuthCommand,
  login: async () => (await import("../commands/settings/login.js")).loginCommand,
  logout: async () => (await import("../commands/settings/logout.js")).logoutCommand,
  auth: async () => (await import("../commands/settings/auth.js")).authCommand,
  config: async () => (await import("../commands/settings/config.js")).configCommand,
  models: async () => (await import("../commands/settings/models.js")).modelsCommand,
  diff: async () => (await import("../commands/changes/diff.js")).diffCommand,
  undo: async () => (await import("../commands/changes/undo.js")).undoCommand,
  search: async () => (await import("../commands/conversations/search.js")).searchCommand,
  index: async () => (await import("../commands/conversations/index-library.js")).indexCommand,
  stats: async () => (await import("../commands/conversations/stats.js")).statsCommand,
  export: async () => (await import("../commands/transfer/export.js")).exportCommand,
  import: async () => (await import("../commands/transfer/import.js")).importCommand,
  clean: async () => (await import("../commands/maintenance/clean.js")).cleanCommand,
  delete: async () => (await import("../commands/conversations/delete.js")).deleteCommand,
  undelete: async () => (await import("../commands/conversations/undelete.js")).undeleteCommand,
  check: async () => (await import("../commands/maintenance/check.js")).checkCommand,
  repair: async () => (await import("../commands/maintenance/repair.js")).repairCommand,
  knowledge: async () => (await import("../commands/tools/knowledge.js")).knowledgeCommand,
  relink: async () => (await import("../commands/conversations/relink.js")).relinkCommand,
  output: async () => (await import("../commands/chat/output.js")).outputCommand,
  scrub: async () => (await import("../commands/maintenance/scrub.js")).scrubCommand,
  doctor: async () => (await import("../commands/maintenance/doctor.js")).doctorCommand,
  mcp: async () => (await import("../commands/tools/mcp.js")).mcpCommand,
  trust: async () => (await import("../commands/settings/trust.js")).trustCommand,
  "mock-llm": async () => (await import("../commands/tools/mock-llm.js")).mockLlmCommand,
  /** The interactive prompt, for `cody` without a command. */
  "": async () => (await import("../commands/chat/interactive.js")).interactiveCommand,
} satisfies Record<string, () => Promise<Command>>;

export type CommandName = keyof typeof loaders;

export function loadCommand(name: CommandName): Promise<Command> {
  return loaders[name]();
}

const writing: ReadonlySet<CommandName> = new Set([
  "new",
  "chat",
  "resume",
  "fork",
  "rename",
  "pin",
  "unpin",
  "compact",
  "import",
  "",
]);

/** True if the command may write a conversation. */
export function writes(name: CommandName): boolean {
  return writing.has(name);
}

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(loaders, name);
}

type Definition = readonly [usage: string, description: string, flags?: typeof globalFlags];

/** In the order of the help text. */
const definitions: readonly Definition[] = [
  ["new", "Start a conversation and print its id", nameFlags],
  ["chat [...text]", "Send a message (reads stdin if no text is given)", chatFlags],
  ["list", "List saved conversations", listFlags],
  ["search <...words>", "Search conversations (all words must match)", searchFlags],
  ["index [action]", "Update the search index; actions: rebuild, status", indexFlags],
  ["stats", "Show turns, tokens and cost per model and project", statsFlags],
  ["resume [id]", "Make a saved conversation (id, name or file) the active one", resumeFlags],
  ["fork [id]", "Fork a conversation, optionally from an earlier turn", forkFlags],
  ["rename <id> <name>", "Rename a conversation", renameFlags],
  ["relink [old] [new]", "List missing project folders, or set the new path of one"],
  ["pin <id>", "Exclude a conversation from clean-up (not related to /pin in the prompt)", pinFlags],
  ["unpin <id>", "Include a pinned conversation in clean-up again", pinFlags],
  ["clean", "Move conversations older than 7 days to the trash", cleanFlags],
  ["delete <...ids>", "Move conversations (id, name or file) to the trash; restore with undelete"],
  ["undelete [id]", "Restore a conversation from the trash; lists the trash if no id is given", undeleteFlags],
  ["compact [...instructions]", "Summarize the older part of the active conversation", compactFlags],
  ["context [id]", "Show what fills a conversation's context window"],
  ["diff [id]", "Show a conversation's file changes as a git patch", diffFlags],
  ["undo [id]", "Revert the last turn's file changes (preview unless --yes)", undoFlags],
  ["set-provider <provider>", "Set the default provider (with --api, --model, --base-url)"],
  ["set-auth <method> [key]", "Set the auth method; use - to enter and store a key", setAuthFlags],
  ["auth [action]", "Show authentication status"],
  ["login", "Log in with ChatGPT in a browser", loginFlags],
  ["logout", "Delete the tokens of cody's own login"],
  ["models", "List known models with context windows and prices"],
  [
    "config [action] [key] [value]",
    "Show the configuration; actions: get KEY, set KEY VALUE, unset KEY, path",
    configFlags,
  ],
  [
    "knowledge [action] [...words]",
    "Show this project's saved knowledge; actions: list, add, undo (a model's entry), remove, prune, export, import",
    knowledgeFlags,
  ],
  [
    "mcp [action] [name] [...command]",
    "List MCP servers; actions: add NAME -- COMMAND, remove, test, login, logout NAME",
    mcpFlags,
  ],
  [
    "trust [path]",
    "Trust this project's config and MCP servers, and let models save knowledge without approval",
    trustFlags,
  ],
  ["export [id]", "Export a conversation to a file", exportFlags],
  ["import <path>", "Import a conversation from another program, or a folder of them", importFlags],
  ["check <id>", "Preview what would be sent to the model", checkFlags],
  ["repair <id>", "Find damaged lines in a conversation; --write removes them", repairFlags],
  ["output <id> [call]", "Show full tool outputs that were truncated"],
  ["scrub <id>", "Find secrets in a saved conversation; --write removes them", scrubFlags],
  ["doctor", "Check all stored files and suggest fixes (read-only)", doctorFlags],
  ["mock-llm", "Run a local mock server for the three model APIs, to test agents", mockLlmFlags],
  ["help [command]", "Show help for cody or for one command"],
  ["version", "Print the version"],
  ["", "Start an interactive conversation, or answer each line of stdin", interactiveFlags],
];

export function defineCommands(): CAC {
  const cli = cac("cody");
  for (const [flag, description] of globalFlags) cli.option(flag, description);
  for (const [usage, description, flags = []] of definitions) {
    const command = cli.command(usage, description);
    for (const [flag, about] of flags) command.option(flag, about);
  }
  return cli;
}
