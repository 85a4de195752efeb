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
  ["chat [...text]", "Send a message, followed by piped stdin; without a text stdin is the message", chatFlags],
  ["list", "List the saved conversations", listFlags],
  ["search <...words>", "Find what was said: the conversations that have all words", searchFlags],
  ["index [action]", "Bring the index that makes searches quick up to date; rebuild, status", indexFlags],
  ["stats", "How much was said and spent, with which models and in which projects", statsFlags],
  ["resume [id]", "Make a saved conversation, found by its id, its name or its file, the active one", resumeFlags],
  ["fork [id]", "Go on in a copy of a conversation, as it is or as it was after a turn", forkFlags],
  ["rename <id> <name>", "Call a saved conversation something else", renameFlags],
  ["relink [old] [new]", "Show folders of conversations that are gone, or say where one is now"],
  ["pin <id>", "Keep a conversation when old ones are cleaned up (/pin is about what the model is told)", pinFlags],
  ["unpin <id>", "Let a pinned conversation be cleaned up like others", pinFlags],
  ["clean", "Move conversations older than 7 days into the trash", cleanFlags],
  ["delete <...ids>", "Move conversations to the trash, found by id, name or file; undelete brings them back"],
  ["undelete [id]", "Bring a conversation back from the trash; without an id, show what is there", undeleteFlags],
  ["compact [...instructions]", "Summarize the old part of the active conversation", compactFlags],
  ["context [id]", "Show what the model sees of a conversation, by size"],
  ["diff [id]", "Show what the turns of a conversation made of the files, as git apply takes it", diffFlags],
  ["undo [id]", "Make files what they were before the last turn that changed some; says what without --yes", undoFlags],
  ["set-provider <provider>", "Choose the provider, with --api, --model and --base-url"],
  ["set-auth <method> [key]", "Choose how to prove who you are; with - the key is read and kept", setAuthFlags],
  ["auth [action]", "Show how you prove who you are, for whom and until when: status"],
  ["login", "Log in with ChatGPT, in a browser", loginFlags],
  ["logout", "Forget the tokens of cody's own login"],
  ["models", "Show the known models, with windows and prices where those are known"],
  ["config [action] [key] [value]", "Show the configuration; get KEY, set KEY VALUE, unset KEY, path", configFlags],
  [
    "knowledge [action] [...words]",
    "Show what is known of this project; list, add, undo (what a model saved), remove, prune, export, import",
    knowledgeFlags,
  ],
  [
    "mcp [action] [name] [...command]",
    "Show the MCP servers; add NAME -- COMMAND, remove, test, login or logout NAME",
    mcpFlags,
  ],
  [
    "trust [path]",
    "Trust a project: its configuration and MCP servers are used, and models may save knowledge in it unasked",
    trustFlags,
  ],
  ["export [id]", "Write a conversation into a file of another format", exportFlags],
  ["import <path>", "Carry over a conversation of another program, or a folder of them", importFlags],
  ["check <id>", "Show what of a conversation would be sent to a model, and what would be changed", checkFlags],
  ["repair <id>", "Show what is damaged in a conversation; with --write, drop it", repairFlags],
  ["output <id> [call]", "Print the whole of an output that was too long for the model, or list those there are"],
  ["scrub <id>", "Show where secrets stand in a saved conversation; with --write, take them out", scrubFlags],
  ["doctor", "Check everything that is kept, and say what helps; changes nothing", doctorFlags],
  ["mock-llm", "Serve the three wire APIs on this machine, to test agents against", mockLlmFlags],
  ["help [command]", "Show help for cody or for one command"],
  ["version", "Print the version"],
  ["", "Talk interactively, or answer each line of stdin", interactiveFlags],
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
