import { cac } from "cac";
import { distance } from "fastest-levenshtein";
import { nearestName } from "../../base/text/nearest-name.js";
import { quotedWord } from "../../base/text/quoted-command.js";
import { CommandError, hintsFor, usageError } from "../command-error.js";
import { amountFlag, numberFlag } from "../format.js";
import {
  type CommandGroup,
  commandGroups,
  type CommandName,
  commandNames,
  commandRow,
  groupOf,
  isCommandName,
} from "./command-table.js";
import {
  type FlagName,
  flagNames,
  flagRow,
  type GivenFlags,
  globalFlags,
  spellingOf,
  spellingsOf,
} from "./flag-table.js";
import { allHelpText, groupHelpText, helpText } from "./help.js";
import type { RunnableName } from "./load-command.js";

/** Cannot occur in a process argument. */
const marker = "\0";

export interface ParsedCommand {
  readonly name: RunnableName;
  readonly args: readonly string[];
  readonly flags: GivenFlags;
  /** The help text, wrapped for a terminal with this many columns; unwrapped if undefined. */
  readonly help: (columns: number | undefined) => string;
}

/** Parses the command, its arguments and its flags. Each text is kept as it was typed. */
export function parseArguments(argv: readonly string[]): ParsedCommand {
  const { words, behindDashes, given } = scan(argv);
  const isPrint = given.some(({ name }) => name === "print");
  // The Claude Agent SDK names no command.
  const isStream = given.some(({ name }) => name === "outputFormat" || name === "inputFormat");
  const named = commandOf(words);
  const command = isPrint || (isStream && named.name === "") ? { name: "exec" as const, args: words } : named;
  try {
    return parsedCommand({ ...command, words, behindDashes, given });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.message, error.exitCode, hintsFor(error, command.name));
  }
}

function parsedCommand(scanned: Scanned & ReturnType<typeof commandOf>): ParsedCommand {
  const { name, words, behindDashes, given } = scanned;
  const isPrint = given.some((flag) => flag.name === "print");
  const args = [...scanned.args, ...behindDashes];
  const [first = ""] = words;
  const flagsOfCommand = isPrint ? given.filter((flag) => flag.name !== "print") : given;
  for (const flag of flagsOfCommand) checkFlag(flag, name, first);
  const flags = valuesOf(flagsOfCommand);
  const isPrompt = name === "" && behindDashes.length > 0;
  if (!flags.help && !flags.version) {
    if (name === "" && !isPrompt) checkPrompt(words);
    checkCount(name, args);
  }
  if (name === "version") {
    return { name: "", args: [], flags: { ...flags, version: true }, help: (columns) => helpText(name, columns) };
  }
  if (name === "help") return helpOf(args, flags);
  const group = flags.help ? groupOf(first) : undefined;
  if (group !== undefined && words.length === 1) return helpOf([group.name], flags);
  const runs = name === "" && flags.list === true ? "list" : name;
  return { name: runs, args, flags, help: (columns) => helpText(name, columns) };
}

/** The command that the words name, alone or as the member of a group, and the words after its name. */
function commandOf(words: readonly string[]): { readonly name: CommandName; readonly args: readonly string[] } {
  const [first = "", second, ...others] = words;
  const group = groupOf(first);
  if (group !== undefined) {
    const name = second !== undefined && Object.hasOwn(group.commands, second) ? group.commands[second] : undefined;
    if (name !== undefined) return { name, args: others };
    if (!isCommandName(first)) {
      if (second === undefined) return { name: "help", args: [first] };
      throw unknownMember(group, second);
    }
  }
  if (isCommandName(first) && first !== "") return { name: first, args: words.slice(1) };
  return { name: "", args: words };
}

/** The help of `cody help chat`, `cody help conversation` or `cody help conversation search`. */
function helpOf(args: readonly string[], flags: GivenFlags): ParsedCommand {
  const [about = flags.help ? "help" : "", member] = args;
  const group = groupOf(about);
  const shown = { ...flags, help: true };
  if (group !== undefined && member === undefined) {
    return { name: "", args: [], flags: shown, help: (columns) => groupHelpText(group, columns) };
  }
  const { name } = commandOf(args.length === 0 ? [about] : args);
  if (name === "" && about !== "") throw unknownCommand(about);
  const isAll = name === "" && flags.all === true;
  return {
    name: "",
    args: [],
    flags: shown,
    help: (columns) => (isAll ? allHelpText(columns) : helpText(name, columns)),
  };
}

/**
 * Rejects what is probably a mistyped command, because a prompt costs money: one word, or two of which the first is
 * almost a command. A prompt has several words, or follows `--` or -p.
 */
function checkPrompt(words: readonly string[]): void {
  const [first] = words;
  if (first === undefined) return;
  const isSentence = /\S\s+\S/.test(first);
  const isMistyped = !isSentence && (words.length === 1 || (words.length === 2 && isTypo(first)));
  if (isMistyped) throw unknownCommand(first);
}

/** Whether a word is a command with one letter wrong or two exchanged. "Hello there" is a message. */
function isTypo(word: string): boolean {
  const near = nearestCommand(word);
  return (
    near !== undefined && (distance(word.toLowerCase(), near) === 1 || sortedLetters(word) === sortedLetters(near))
  );
}

function sortedLetters(word: string): string {
  return Array.from(word.toLowerCase()).toSorted().join("");
}

/** A flag as it was typed. */
interface GivenFlag {
  readonly spelling: string;
  /** Undefined if no command has such a flag. */
  readonly name: FlagName | undefined;
  /** Written as `--flag=value`. */
  readonly isAssigned: boolean;
  /** All values that were given for it, in order; undefined where it was given without one. */
  readonly values: readonly (string | undefined)[];
}

interface Scanned {
  readonly words: readonly string[];
  /** The arguments after `--`, which are never flags. */
  readonly behindDashes: readonly string[];
  readonly given: readonly GivenFlag[];
}

/**
 * Separates words and flags. Every flag has the same kind in all commands, so this does not depend on the command: cac
 * is given every flag, and the caller checks which of them the command accepts.
 */
function scan(argv: readonly string[]): Scanned {
  const dashes = argv.indexOf("--");
  const end = dashes === -1 ? argv.length : dashes;
  const typed = argv.slice(0, end);
  const cli = cac("cody");
  for (const name of flagNames) {
    const { short, value = "" } = flagRow(name);
    cli.option(`${short === undefined ? "" : `${short}, `}--${name} ${value}`, "");
  }
  const { args, options } = cli.parse(["node", "cody", ...typed.map(marked)], { run: false });
  const typedFlags = typed.filter(isFlag).map((argument): Omit<GivenFlag, "values"> => {
    const [spelling = argument] = argument.split("=", 1);
    return { spelling, name: nameBySpelling.get(spelling), isAssigned: spelling !== argument };
  });
  return {
    words: args.map(unmarked),
    behindDashes: argv.slice(end + 1),
    given: typedFlags.map((flag) => ({
      ...flag,
      values: valuesGiven(flag.name === undefined ? [] : options[flag.name]),
    })),
  };
}

function valuesGiven(option: unknown): (string | undefined)[] {
  return [option].flat().map((value) => (typeof value === "string" ? unmarked(value) : undefined));
}

/**
 * Protects an argument from cac, which would convert numbers, take `true` after a switch as its value, treat a lone dash
 * as a flag, and read `--no-x` as `--x=false`. A flag becomes its name in the table: `--base-url` is `--baseUrl`.
 */
function marked(argument: string): string {
  if (!isFlag(argument)) return marker + argument;
  const [, spelling = argument, value] = /^([^=]*)=([^]*)$/.exec(argument) ?? [];
  const name = nameBySpelling.get(spelling);
  const flag = name === undefined ? spelling : `--${name}`;
  return value === undefined ? flag : `${flag}=${marker}${value}`;
}

function unmarked(text: string): string {
  return text.startsWith(marker) ? text.slice(marker.length) : text;
}

/** A lone dash is a word: it stands for stdin. */
function isFlag(argument: string): boolean {
  return argument.startsWith("-") && argument !== "-";
}

const nameBySpelling: ReadonlyMap<string, FlagName> = new Map(
  flagNames.flatMap((name) => spellingsOf(name).map((spelling) => [spelling, name] as const)),
);

function checkFlag({ spelling, name: flag, isAssigned }: GivenFlag, name: CommandName, typedCommand: string): void {
  if (flag === undefined) throw unknownFlag(spelling, name);
  if (!acceptedBy(name).includes(flag)) {
    // It may be a flag of the command that was meant.
    throw name === "" && typedCommand !== "" ? unknownCommand(typedCommand) : inapplicableFlag(spelling, flag, name);
  }
  if (flagRow(flag).kind === "switch" && isAssigned) throw usageError(`${spelling} takes no value`);
}

function acceptedBy(name: CommandName): readonly FlagName[] {
  return [...commandRow(name).flags, ...globalFlags];
}

function valuesOf(typedFlags: readonly GivenFlag[]): GivenFlags {
  const isHelp = typedFlags.some(({ name }) => name === "help" || name === "version");
  const values = typedFlags.flatMap(({ name, values: typed }) =>
    name === undefined ? [] : [[name, valueOf(name, typed)]],
  );
  const noGlobals: Pick<GivenFlags, "json" | "raw" | "help" | "version"> = {
    json: false,
    raw: false,
    help: false,
    version: false,
  };
  return { ...noGlobals, ...Object.fromEntries(values) };

  /** If a flag is given twice, the last value wins, except for flags that may be repeated. */
  function valueOf(name: FlagName, typed: GivenFlag["values"]): unknown {
    const { kind } = flagRow(name);
    const value = typed.at(-1);
    if (kind === "switch") return true;
    if (kind === "texts") return typed.map((text) => text ?? needsValue(name));
    if (kind === "optional text" && value === undefined) return true;
    const text = value || needsValue(name);
    // Help is shown even if a number is wrong.
    if (isHelp) return text;
    if (kind === "amount") return amountFlag(spellingOf(name), text);
    return kind === "number" ? numberFlag(spellingOf(name), text) : text;
  }
}

function needsValue(name: FlagName): never {
  throw usageError(`${spellingOf(name)} needs a value`);
}

function checkCount(name: CommandName, args: readonly string[]): void {
  const { usage } = commandRow(name);
  const known = argumentsOf(usage);
  const required = known.filter(({ isRequired }) => isRequired);
  const hint = `Usage: cody ${usage}`;
  if (args.length < required.length) throw usageError(`Missing argument: ${required.at(args.length)?.name}`, hint);
  const excess = known.some(({ isVariadic }) => isVariadic) ? undefined : args[known.length];
  if (excess !== undefined) throw usageError(`Unexpected argument '${excess}'`, hint);
}

function argumentsOf(usage: string): { name: string; isRequired: boolean; isVariadic: boolean }[] {
  return Array.from(usage.matchAll(/([<[])(\.{3})?([\w-]+)[\]>]/g), ([, bracket, dots, name = ""]) => ({
    name,
    isRequired: bracket === "<",
    isVariadic: dots !== undefined,
  }));
}

function unknownCommand(typed: string): CommandError {
  const near = nearestCommand(typed);
  const asPrompt = `To send it as a message: cody -- ${quotedWord(typed)}`;
  return near === undefined
    ? usageError(`Unknown command '${typed}'`, asPrompt, "See: cody help")
    : usageError(`Unknown command '${typed}'. Did you mean ${near}?`, asPrompt, "See: cody help");
}

function nearestCommand(typed: string): string | undefined {
  const groups = commandGroups.flatMap(({ name, aliases }) => [name, ...aliases]);
  return nearestName(typed, [...commandNames.filter((name) => name !== ""), ...groups]);
}

function unknownMember({ name, commands }: CommandGroup, typed: string): CommandError {
  const members = Object.keys(commands);
  const near = nearestName(typed, members);
  const hint = near === undefined ? `Commands of cody ${name}: ${members.join(", ")}` : `Did you mean ${near}?`;
  return usageError(`Unknown command 'cody ${name} ${typed}'`, hint, `See: cody help ${name}`);
}

function unknownFlag(spelling: string, name: CommandName): CommandError {
  const near = nearestFlag(spelling, acceptedBy(name));
  const text = 'For text that starts with a dash: cody chat -- "-…"';
  const hint = near === undefined ? text : `Did you mean ${near}?`;
  return usageError(`Unknown option ${spelling}`, hint, seeHelp(name));
}

function inapplicableFlag(spelling: string, flag: FlagName, name: CommandName): CommandError {
  const others = commandNames.filter((other) => commandRow(other).flags.includes(flag));
  const commands = others.map((other) => (other === "" ? "cody without a command" : other)).join(", ");
  const where = name === "" ? "without a command" : `for cody ${name}`;
  return usageError(`Unknown option ${spelling} ${where}`, `It is an option of: ${commands}`, seeHelp(name));
}

function seeHelp(name: CommandName): string {
  return name === "" ? "See: cody --help" : `See: cody ${name} --help`;
}

/** Prefers a flag with the same letters apart from dashes and case, or of which one is a prefix of the other. */
function nearestFlag(typed: string, accepted: readonly FlagName[]): string | undefined {
  const spellings = accepted.flatMap(spellingsOf);
  const letters = bare(typed);
  const sharing = spellings.find((spelling) => {
    const others = bare(spelling);
    return letters.length > 1 && others.length > 1 && (others.startsWith(letters) || letters.startsWith(others));
  });
  if (sharing !== undefined) return sharing;
  const near = nearestName(letters, spellings.map(bare));
  return spellings.find((spelling) => bare(spelling) === near);
}

function bare(flag: string): string {
  return flag.replaceAll("-", "").toLowerCase();
}
