import type { CAC } from "cac";
import { type CommandName, defineCommands, isCommandName } from "./command-table.js";
import { usageError } from "./command-error.js";
import type { Flags } from "./flags.js";
import { helpText } from "./help.js";
import { checkFlags } from "./check-flags.js";
import { mark, unmark } from "./verbatim.js";

export interface ParsedCommand {
  readonly name: CommandName;
  readonly args: readonly string[];
  readonly flags: Flags;
  /** How this command is used, for a terminal of so many columns or for a file. */
  readonly help: (columns: number | undefined) => string;
}

type CacCommand = CAC["commands"][number];

/** The command, its arguments and its flags, each text as it was typed. */
export function parseArguments(argv: readonly string[]): ParsedCommand {
  const cli = defineCommands();
  const { args: marked, options } = cli.parse(["node", "cody", ...mark(argv)], { run: false });
  const command = cli.matchedCommand;
  if (command === undefined || !isCommandName(command.name)) throw usageError("There is no such command");
  const known = [...cli.globalCommand.options, ...command.options];
  checkFlags(argv, known);
  const args = [...marked.map(unmark), ...textsBehindDashes(argv)];
  const flags = flagsOf(options, known);
  if (!flags.help && !flags.version) checkCount(cli, command, args);
  return { name: command.name, args, flags, help: (columns) => helpText(cli, command, columns) };
}

function textsBehindDashes(argv: readonly string[]): readonly string[] {
  const dashes = argv.indexOf("--");
  return dashes === -1 ? [] : argv.slice(dashes + 1);
}

function flagsOf(options: Readonly<Record<string, unknown>>, known: readonly CacCommand["options"][number][]): Flags {
  const values = known.flatMap((option): [string, string | boolean | string[]][] => {
    if (repeatable.has(option.name)) return repeated(option, options[option.name]);
    const value = lastOf(options[option.name]);
    if (option.isBoolean === true) return [[option.name, value === true]];
    if (value === undefined) return [];
    if (typeof value === "string" && unmark(value) !== "") return [[option.name, unmark(value)]];
    if (option.required === false && value === true) return [[option.name, true]];
    throw usageError(`${option.rawName.split(" ")[0]} needs a value`);
  });
  return { ...nothingGiven, ...Object.fromEntries(values) };
}

/** Flags of which every one counts. */
const repeatable: ReadonlySet<string> = new Set(["env"]);

function repeated({ name, rawName }: CacCommand["options"][number], given: unknown): [string, string[]][] {
  const values: unknown[] = given === undefined ? [] : [given].flat();
  const texts = values.map((value) => {
    if (typeof value !== "string") throw usageError(`${rawName.split(" ")[0]} needs a value`);
    return unmark(value);
  });
  return texts.length === 0 ? [] : [[name, texts]];
}

const nothingGiven: Flags = {
  continue: false,
  force: false,
  json: false,
  raw: false,
  list: false,
  project: false,
  codex: false,
  last: false,
  fork: false,
  recordedCwd: false,
  write: false,
  dryRun: false,
  undo: false,
  explain: false,
  stat: false,
  replace: false,
  overwrite: false,
  all: false,
  trash: false,
  yes: false,
  help: false,
  version: false,
  stdin: false,
  keyring: false,
  shapes: true,
  persistence: true,
  strict: true,
};

/** A flag given twice holds as it was given last. */
function lastOf(value: unknown): unknown {
  return Array.isArray(value) ? value.at(-1) : value;
}

function checkCount(cli: CAC, command: CacCommand, args: readonly string[]): void {
  if (command.name === "" && args[0] !== undefined) {
    const names = cli.commands.flatMap(({ name }) => (name === "" ? [] : [name]));
    throw usageError(`Unknown command '${args[0]}'`, `Commands: ${names.join(", ")}`, "See: cody --help");
  }
  const required = command.args.filter((argument) => argument.required);
  const usage = `Usage: cody ${command.rawName}`;
  if (args.length < required.length) throw usageError(`${required.at(args.length)?.value} is missing`, usage);
  const excess = command.args.some((argument) => argument.variadic) ? undefined : args[command.args.length];
  if (excess !== undefined) throw usageError(`'${excess}' is one argument too many`, usage);
}
