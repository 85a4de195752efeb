import { type CAC, cac } from "cac";
import { listCommand } from "./commands/list.js";
import type { Command } from "./context.js";
import {
  cleanFlags,
  compactFlags,
  doctorFlags,
  globalFlags,
  listFlags,
  mockLlmFlags,
  nameFlags,
  pinFlags,
  renameFlags,
  repairFlags,
  resumeFlags,
  undeleteFlags,
} from "./flags.js";

const managerCommands = async () => (await import("./manager-commands.js")).managerCommands;

/**
 * What needs the manager is loaded when it is asked for, and in one piece: every file of its own costs a short command
 * a millisecond.
 */
const loaders = {
  list: () => Promise.resolve(listCommand),
  new: async () => (await managerCommands()).new,
  chat: async () => (await managerCommands()).chat,
  resume: async () => (await managerCommands()).resume,
  rename: async () => (await managerCommands()).rename,
  pin: async () => (await managerCommands()).pin,
  unpin: async () => (await managerCommands()).unpin,
  compact: async () => (await managerCommands()).compact,
  context: async () => (await managerCommands()).context,
  "set-provider": async () => (await managerCommands()).setProvider,
  "set-auth": async () => (await managerCommands()).setAuth,
  config: async () => (await managerCommands()).config,
  // Apart from the others, and rarely needed.
  clean: async () => (await import("./commands/clean.js")).cleanCommand,
  undelete: async () => (await import("./commands/undelete.js")).undeleteCommand,
  repair: async () => (await import("./commands/repair.js")).repairCommand,
  doctor: async () => (await import("./commands/doctor.js")).doctorCommand,
  // Apart from the others: it loads a server that nobody else needs.
  "mock-llm": async () => (await import("./commands/mock-llm.js")).mockLlmCommand,
  /** What cody does without a command. */
  "": async () => (await managerCommands()).interactive,
} satisfies Record<string, () => Promise<Command>>;

export type CommandName = keyof typeof loaders;

export function loadCommand(name: CommandName): Promise<Command> {
  return loaders[name]();
}

const writing: ReadonlySet<CommandName> = new Set(["new", "chat", "resume", "rename", "pin", "unpin", "compact", ""]);

/** Whether a command is going to write a conversation. */
export function writes(name: CommandName): boolean {
  return writing.has(name);
}

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(loaders, name);
}

export function defineCommands(): CAC {
  const cli = cac("cody");
  for (const [flag, description] of globalFlags) cli.option(flag, description);
  const fresh = cli.command("new", "Start a conversation and print its id");
  const chat = cli.command(
    "chat [...text]",
    "Say something in the active conversation; without a text it is read from stdin",
  );
  for (const [flag, description] of nameFlags) {
    fresh.option(flag, description);
    chat.option(flag, description);
  }
  const list = cli.command("list", "List the saved conversations");
  const resume = cli.command(
    "resume [id]",
    "Make a saved conversation, found by its id, its name or its file, the active one",
  );
  for (const [flag, description] of resumeFlags) resume.option(flag, description);
  const rename = cli.command("rename <id> <name>", "Call a saved conversation something else");
  for (const [flag, description] of renameFlags) rename.option(flag, description);
  const pin = cli.command(
    "pin <id>",
    "Keep a conversation when old ones are cleaned up (/pin is about what the model is told)",
  );
  const unpin = cli.command("unpin <id>", "Let a pinned conversation be cleaned up like others");
  for (const [flag, description] of pinFlags) {
    pin.option(flag, description);
    unpin.option(flag, description);
  }
  const clean = cli.command("clean", "Move conversations older than 7 days into the trash");
  for (const [flag, description] of cleanFlags) clean.option(flag, description);
  const undelete = cli.command(
    "undelete [id]",
    "Bring a conversation back from the trash; without an id, show what is there",
  );
  for (const [flag, description] of undeleteFlags) undelete.option(flag, description);
  const compact = cli.command("compact [...instructions]", "Summarize the old part of the active conversation");
  for (const [flag, description] of compactFlags) compact.option(flag, description);
  cli.command("context [id]", "Show what the model sees of a conversation, by size");
  cli.command("set-provider <provider>", "Choose the provider, with --api, --model and --base-url");
  cli.command("set-auth <method>", "Choose how to prove who you are to the provider");
  cli.command("config [action] [key] [value]", "Show the configuration; get KEY, set KEY VALUE, unset KEY, path");
  const repair = cli.command("repair <id>", "Show what is damaged in a conversation; with --write, drop it");
  for (const [flag, description] of repairFlags) repair.option(flag, description);
  const doctor = cli.command("doctor", "Check everything that is kept, and say what helps; changes nothing");
  for (const [flag, description] of doctorFlags) doctor.option(flag, description);
  const mock = cli.command("mock-llm", "Serve the three wire APIs on this machine, to test agents against");
  for (const [flag, description] of mockLlmFlags) mock.option(flag, description);
  const bare = cli.command("", "Talk interactively, or answer each line of stdin");
  bare.option("--list", "The same as: cody list");
  for (const [flag, description] of listFlags) {
    list.option(flag, description);
    bare.option(flag, description);
  }
  return cli;
}
