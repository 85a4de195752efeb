import type * as Unbash from "unbash";

/** A longer line is not taken apart: it needs approval. */
export const maxLineChars = 16_384;

/** A line with more commands needs approval. */
const maxLineCommands = 50;

type Operator = "&&" | "||" | ";" | "|";

/** One command of a line whose arguments are exactly those that the shell passes on. */
export interface PlainCommand {
  readonly argv: readonly string[];
  /** The operator before it; absent for the first command. */
  readonly after?: Operator;
}

/** A command somewhere in a line that is not plain; an argument is undefined if only the shell can compute it. */
export type SeenCommand = readonly (string | undefined)[];

/**
 * A shell line, taken apart. `plain`: the shell runs exactly these programs. `complex`: it may run others, too.
 * `unparsed`: nothing is known about it.
 */
type ShellLine =
  | { readonly type: "plain"; readonly commands: readonly PlainCommand[] }
  | { readonly type: "complex"; readonly reason: string; readonly commands: readonly SeenCommand[] }
  | { readonly type: "unparsed"; readonly reason: string };

/**
 * Takes a line apart as POSIX shells do. A line counts as plain only if our own scanner, which knows little more than
 * words and quotes, and the parser find the same commands in it.
 */
export async function readShellLine(text: string): Promise<ShellLine> {
  if (text.length > maxLineChars) return unparsed(`it has more than ${maxLineChars} characters`);
  // Loaded with the first line that is judged: most runs judge none.
  const { parse, forEachChild } = await import("unbash");
  const script = parse(text);
  const problem = script.errors?.[0]?.message;
  if (problem !== undefined) return unparsed(`the shell's syntax: ${problem}`);
  const commands = scanPlain(text);
  const parsed = plainCommands(script);
  if (commands !== undefined && parsed !== undefined && isSame(commands, parsed)) {
    return commands.length > maxLineCommands
      ? unparsed(`it has more than ${maxLineCommands} commands`)
      : { type: "plain", commands };
  }
  const seen = commandsIn(script, forEachChild);
  if (seen.length > maxLineCommands) return unparsed(`it has more than ${maxLineCommands} commands`);
  return { type: "complex", reason: "it is more than plain commands joined by && || ; |", commands: seen };
}

function unparsed(reason: string): ShellLine {
  return { type: "unparsed", reason };
}

function isSame(one: readonly PlainCommand[], other: readonly PlainCommand[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Characters that mean themselves everywhere in a word, in every shell. Others than ASCII are left out, because shells
 * disagree about which of them are blanks.
 */
const safe = String.raw`[A-Za-z0-9_@%+=:,./^-]|(?<=[A-Za-z0-9_@%+,./^-])~`;
/** Nothing but the closing quote ends it. Control characters are left out: some shells use them internally. */
const singleQuoted = String.raw`'(?:[^'\0-\x08\x0b-\x1f\x7f])*'`;
const doubleQuoted = String.raw`"(?:[^"$\x60\\\0-\x08\x0b-\x1f\x7f])*"`;
/** A backslash only among ASCII: in some locales it is the second half of a character. */
const escapedQuoted = String.raw`"(?:[\x20!#%-[\]^_a-~\t\n]|\\[\x20-\x7e])*"`;
const word = new RegExp(`(?:${safe}|${singleQuoted}|${doubleQuoted}|${escapedQuoted})+`, "y");
const piece = new RegExp(`((?:${safe})+)|(${singleQuoted})|(${doubleQuoted}|${escapedQuoted})`, "g");
const blank = /[ \t]+/y;
const operator = /&&|\|\||;(?!;)|\|(?!&)/y;

/** Reads words separated by blanks; undefined if the text has anything else. */
export function plainWords(text: string): string[] | undefined {
  const commands = scanPlain(text);
  return commands?.length === 1 ? [...(commands[0]?.argv ?? [])] : undefined;
}

function scanPlain(text: string): PlainCommand[] | undefined {
  if (!text.isWellFormed()) return undefined;
  const source = text.replace(/^[ \t]+|[ \t\n]+$/g, "");
  const commands: PlainCommand[] = [];
  let argv: string[] = [];
  let after: Operator | undefined;
  const take = (pattern: RegExp, at: number): string => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0] ?? "";
  };
  for (let at = 0; at < source.length;) {
    const found = take(word, at);
    if (found !== "") {
      argv.push(valueOf(found));
      at += found.length;
      // A word ends at a blank, an operator or the end; a word next to anything else is not plain.
      if (at < source.length && take(blank, at) === "" && take(operator, at) === "") return undefined;
      continue;
    }
    const space = take(blank, at);
    const joint = space === "" ? take(operator, at) : "";
    if (space === "" && joint === "") return undefined;
    at += space.length + joint.length;
    if (joint === "") continue;
    if (argv.length === 0) return undefined;
    commands.push(after === undefined ? { argv } : { argv, after });
    argv = [];
    after = operatorOf(joint);
  }
  if (argv.length > 0) commands.push(after === undefined ? { argv } : { argv, after });
  else if (after !== ";") return undefined;
  return commands;
}

/** The argument that the shell passes on for a word of the scanner. */
function valueOf(text: string): string {
  return text.replaceAll(piece, (whole, bare: string | undefined, single: string | undefined) => {
    if (bare !== undefined) return bare;
    const inner = whole.slice(1, -1);
    return single === undefined ? inner.replaceAll(/\\([\\"$`])/g, "$1") : inner;
  });
}

type SyntaxNode = Parameters<typeof Unbash.forEachChild>[0];

function plainCommands(script: Unbash.ParsedScript): PlainCommand[] | undefined {
  const commands: PlainCommand[] = [];
  const add = (node: SyntaxNode, after: Operator | undefined): boolean => {
    switch (node.type) {
      case "Statement":
        return node.background !== true && add(node.command, after);
      case "Pipeline":
        return node.prefixes.length === 0 && addAll(node.commands, node.operators, after);
      case "AndOr":
        return addAll(node.commands, node.operators, after);
      case "Command": {
        const argv = argvOf(node);
        if (!argv.every((argument) => argument !== undefined)) return false;
        commands.push(after === undefined ? { argv } : { argv, after });
        return true;
      }
      default:
        return false;
    }
  };
  const addAll = (nodes: readonly SyntaxNode[], operators: readonly string[], after: Operator | undefined): boolean =>
    nodes.every((node, index) => {
      const before = index === 0 ? after : operatorOf(operators[index - 1]);
      return (index === 0 || before !== undefined) && add(node, before);
    });
  return addAll(
    script.commands,
    Array.from(script.commands, () => ";"),
    undefined,
  )
    ? commands
    : undefined;
}

function operatorOf(text: string | undefined): Operator | undefined {
  return text === "&&" || text === "||" || text === ";" || text === "|" ? text : undefined;
}

/** The arguments of a command; for each assignment and redirect there is one that is undefined. */
function argvOf({ name, prefix, suffix }: Unbash.Command): (string | undefined)[] {
  const words = [name, ...suffix].map((each) => (each?.type === "Word" ? literal(each) : undefined));
  return [...words, ...prefix.map(() => undefined)];
}

function literal({ value, parts = [] }: Unbash.Word): string | undefined {
  return parts.every(isLiteral) ? value : undefined;
}

function isLiteral(part: Unbash.WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(({ type }) => type === "Literal");
  return part.type === "Literal" || part.type === "SingleQuoted";
}

/** Every command in a line, also those in substitutions, loops, functions and here-documents. */
function commandsIn(script: SyntaxNode, forEachChild: typeof Unbash.forEachChild): SeenCommand[] {
  const commands: SeenCommand[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Command") commands.push(argvOf(node));
    // A substitution that could not be parsed, or is nested too deeply.
    if ("script" in node && (node.script === undefined || node.script.errors !== undefined)) commands.push([undefined]);
    forEachChild(node, visit);
  };
  visit(script);
  return commands;
}
