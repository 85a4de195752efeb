import type { CAC } from "cac";
import { nearestName } from "../../base/text/nearest-name.js";
import { type CommandError, usageError } from "../command-error.js";
import { type CommandName, defineCommands, isCommandName } from "./command-table.js";
import type { Flags } from "./flags.js";
import { helpText } from "./help.js";

/** Cannot occur in a process argument. */
const marker = "\0";

export interface ParsedCommand {
  readonly name: CommandName;
  readonly args: readonly string[];
  readonly flags: Flags;
  /** The help text, wrapped for a terminal with this many columns; unwrapped if undefined. */
  readonly help: (columns: number | undefined) => string;
}

type CacCommand = CAC["commands"][number];

/** Parses the command, its arguments and its flags. Each text is kept as it was typed. */
export function parseArguments(argv: readonly string[]): ParsedCommand {
  const cli = defineCommands();
  const { args: marked, options } = cli.parse(["node", "cody", ...mark(argv)], { run: false });
  const command = cli.matchedCommand;
  if (command === undefined) throw usageError("Unknown command");
  const known = [...cli.globalCommand.options, ...command.options];
  checkFlags(argv, known);
  const args = [...marked.map(unmark), ...textsBehindDashes(argv)];
  const flags = flagsOf(options, known);
  if (!flags.help && !flags.version) checkCount(cli, command, args);
  if (isCommandName(command.name)) {
    return { name: command.name, args, flags, help: (columns) => helpText(cli, command, columns) };
  }
  // `version` and `help` have no loader: they are other spellings of a flag.
  if (command.name === "version") return { name: "", args: [], flags: { ...flags, version: true }, help: () => "" };
  const [about = ""] = args;
  const described = cli.commands.find(({ name }) => name === about);
  if (described === undefined) throw unknownCommand(cli, about);
  return { name: "", args: [], flags: { ...flags, help: true }, help: (columns) => helpText(cli, described, columns) };
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

/** Flags that may be given several times; every value is kept. */
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

/** If a flag is given twice, the last value wins. */
function lastOf(value: unknown): unknown {
  return Array.isArray(value) ? value.at(-1) : value;
}

function checkCount(cli: CAC, command: CacCommand, args: readonly string[]): void {
  if (command.name === "" && args[0] !== undefined) throw unknownCommand(cli, args[0]);
  const required = command.args.filter((argument) => argument.required);
  const usage = `Usage: cody ${command.rawName}`;
  if (args.length < required.length) throw usageError(`Missing argument: ${required.at(args.length)?.value}`, usage);
  const excess = command.args.some((argument) => argument.variadic) ? undefined : args[command.args.length];
  if (excess !== undefined) throw usageError(`Unexpected argument '${excess}'`, usage);
}

function unknownCommand(cli: CAC, typed: string): CommandError {
  const names = cli.commands.flatMap(({ name }) => (name === "" ? [] : [name]));
  const near = nearestName(typed, names);
  return near === undefined
    ? usageError(`Unknown command '${typed}'`, `Commands: ${names.join(", ")}`, "See: cody help")
    : usageError(`Unknown command '${typed}'. Did you mean ${near}?`, "See: cody help");
}

/**
 * Marks arguments so that cac does not change them: it would convert numbers, take `true` after a boolean flag as its
 * value, treat a lone dash as a flag, and take any argument after a boolean flag of two words as its value.
 */
function mark(argv: readonly string[]): string[] {
  const dashes = argv.indexOf("--");
  const end = dashes === -1 ? argv.length : dashes;
  return argv.map((argument, index) => (index < end ? markOne(argument) : argument));
}

function unmark(text: string): string {
  return text.startsWith(marker) ? text.slice(marker.length) : text;
}

function markOne(argument: string): string {
  const [, flag, value] = /^(--?[^=]+=)([^]*)$/.exec(argument) ?? [];
  if (flag !== undefined && value !== undefined) return flag + marker + value;
  if (/^--(?!no-)[a-z]+(?:-[a-z]+)+$/.test(argument)) return camelCased(argument);
  return isChanged(argument) ? marker + argument : argument;
}

function camelCased(flag: string): string {
  return `--${flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}

function isChanged(argument: string): boolean {
  if (argument === "-" || argument === "true" || argument === "false") return true;
  return !argument.startsWith("-") && Number.isFinite(Number(argument));
}

interface KnownFlag {
  readonly rawName: string;
  readonly isBoolean?: boolean;
}

/** Checks the flags as they were typed: cac accepts some mistakes, and cannot name others by their spelling. */
function checkFlags(argv: readonly string[], known: readonly KnownFlag[]): void {
  const end = argv.indexOf("--");
  for (const argument of argv.slice(0, end === -1 ? undefined : end)) {
    if (argument.startsWith("-") && argument !== "-") checkFlag(argument, known);
  }
}

function checkFlag(argument: string, known: readonly KnownFlag[]): void {
  const [flag = argument] = argument.split("=", 1);
  const spellings = known.flatMap(spellingsOf);
  if (!spellings.some(({ spelling }) => spelling === flag)) {
    const near = spellings.find(({ spelling }) => isNear(spelling, flag))?.spelling;
    const text = 'For text that starts with a dash: cody chat -- "-…"';
    throw usageError(`Unknown option ${flag}`, near === undefined ? text : `Did you mean ${near}?`, "See: cody --help");
  }
  const takesNoValue = spellings.some(({ spelling, isBoolean }) => spelling === flag && isBoolean);
  if (takesNoValue && flag !== argument) throw usageError(`${flag} takes no value`);
}

function spellingsOf({ rawName, isBoolean }: KnownFlag): { spelling: string; isBoolean: boolean }[] {
  const names = rawName.replace(/[<[].*$/, "").split(",");
  return names.map((name) => ({ spelling: name.trim(), isBoolean: isBoolean === true }));
}

/** True if both have the same letters apart from dashes and case, or one is a prefix of the other. */
function isNear(spelling: string, flag: string): boolean {
  const [a, b] = [bare(spelling), bare(flag)];
  return b.length > 1 && a.length > 1 && (a.startsWith(b) || b.startsWith(a));
}

function bare(flag: string): string {
  return flag.replaceAll("-", "").toLowerCase();
}
