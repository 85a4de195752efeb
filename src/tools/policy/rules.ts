import { basename, isAbsolute, join, resolve } from "node:path";
import { InvalidInputError } from "../../base/errors.js";
import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import { RuleDecision, type RuleLists, type WrittenRule } from "../../messages/tools/permissions.js";
import { findProgram, type Program, type ProgramPlaces } from "./find-program.js";
import { isRefusedByPrefix, prefixProblem } from "./launchers.js";
import { plainWords } from "./shell-line.js";

/** A rule applies to a command, to reading or writing a path, or to a tool. */
type Pattern =
  | { readonly kind: "command"; readonly words: readonly string[]; readonly isPrefix: boolean }
  | { readonly kind: "read" | "write"; readonly path: string; readonly matches: (value: string) => boolean }
  | { readonly kind: "tool"; readonly matches: (value: string) => boolean };

export interface Rule {
  readonly decision: RuleDecision;
  /** As it was written. */
  readonly text: string;
  /** The place it comes from, such as `permissions.json` or `--deny`. */
  readonly source: string;
  readonly because: string | undefined;
  readonly pattern: Pattern;
}

interface RulePlaces {
  readonly source: string;
  /** Relative paths in rules start here; without it, they are refused. */
  readonly root: string | undefined;
  /** The user's home, for paths that start with `~/`. */
  readonly userHome: string;
}

/** Compiles rules and checks their examples; throws an InvalidInputError that names the first bad one. */
export function compileRules(lists: RuleLists, places: RulePlaces): Rule[] {
  return RuleDecision.options.flatMap((decision) =>
    (lists[decision] ?? []).map((rule) => compile(decision, rule, places)),
  );
}

function compile(decision: RuleDecision, written: WrittenRule, places: RulePlaces): Rule {
  const { rule: text, match = [], notMatch = [], because } = typeof written === "string" ? { rule: written } : written;
  const fail = (problem: string): never => {
    throw new InvalidInputError(`${places.source}: ${decision} rule "${shortened(visible(text), 200)}": ${problem}`);
  };
  const pattern = parsePattern(text, places, fail);
  if (decision === "allow" && pattern.kind === "command" && pattern.isPrefix) {
    const problem = prefixProblem(pattern.words);
    if (problem !== undefined) fail(problem);
  }
  const rule: Rule = { decision, text, source: places.source, because, pattern };
  const bad =
    match.find((example) => !matchesExample(rule, example, places)) ??
    notMatch.find((example) => matchesExample(rule, example, places));
  if (bad !== undefined) {
    const isWanted = match.includes(bad);
    fail(`its example "${shortened(visible(bad), 200)}" ${isWanted ? "does not match" : "matches"}`);
  }
  return rule;
}

function parsePattern(text: string, places: RulePlaces, fail: (problem: string) => never): Pattern {
  const [, kind = "command", rest = text] = /^(command|read|write|tool):(.*)$/s.exec(text.trim()) ?? [];
  if (kind === "command") return commandPattern(rest.trim(), places, fail);
  if (rest === "") return fail(`nothing follows ${kind}:`);
  if (kind === "tool") return { kind, matches: globMatcher(rest, "[^]*") };
  if (kind !== "read" && kind !== "write") return fail("unknown kind");
  const path = absolutePattern(rest, places);
  if (path === undefined) return fail("a path must start with / or ~/ or **/");
  return { kind, path, matches: pathMatcher(path) };
}

function commandPattern(text: string, { root }: RulePlaces, fail: (problem: string) => never): Pattern {
  const isPrefix = text.endsWith(" *");
  const words = plainWords(isPrefix ? text.slice(0, -1) : text);
  if (words === undefined || words.length === 0) return fail("expected the words of one command, and then maybe *");
  const [name = "", ...others] = words;
  if (!name.includes("/") || isAbsolute(name)) return { kind: "command", words, isPrefix };
  if (root === undefined) return fail("a program must be a name or an absolute path");
  return { kind: "command", words: [resolve(root, name), ...others], isPrefix };
}

function absolutePattern(text: string, { root, userHome }: RulePlaces): string | undefined {
  if (text.startsWith("/") || text.startsWith("**/")) return text;
  if (text === "~" || text.startsWith("~/")) return join(userHome, text.slice(1));
  return root === undefined ? undefined : join(root, text);
}

/** Matches a path and everything below it. `*` stands for a part of a name, `**` for any number of folders. */
function pathMatcher(pattern: string): (path: string) => boolean {
  const trimmed = pattern.replace(/\/(?:\*\*)?$/, "");
  const inner = globSource(trimmed, "[^/]*").replaceAll("[^/]*[^/]*/", "(?:[^]*/)?").replaceAll("[^/]*[^/]*", "[^]*");
  const expression = new RegExp(`^${inner}(?:/[^]*)?$`);
  return (path) => expression.test(path);
}

function globMatcher(pattern: string, star: string): (value: string) => boolean {
  const expression = new RegExp(`^${globSource(pattern, star)}$`);
  return (value) => expression.test(value);
}

function globSource(pattern: string, star: string): string {
  return pattern.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll("*", star);
}

/** Examples of commands are matched by their words alone, since their programs need not be installed. */
function matchesExample({ decision, pattern }: Rule, example: string, places: RulePlaces): boolean {
  if (pattern.kind !== "command") {
    const text = example.replace(/^(?:read|write|tool):/, "");
    return pattern.matches(pattern.kind === "tool" ? text : (absolutePattern(text, places) ?? text));
  }
  const argv = plainWords(example);
  if (argv === undefined) return false;
  const [name = ""] = argv;
  const resolved = name.includes("/") && places.root !== undefined ? resolve(places.root, name) : name;
  return matchesWords(pattern, [resolved, ...argv.slice(1)], decision);
}

function matchesWords(
  { words, isPrefix }: Extract<Pattern, { kind: "command" }>,
  argv: readonly string[],
  decision: RuleDecision,
): boolean {
  if (isPrefix ? argv.length < words.length : argv.length !== words.length) return false;
  if (!words.every((each, index) => each === argv[index])) return false;
  return decision !== "allow" || !isRefusedByPrefix(words, argv.slice(words.length));
}

/** Decides whether an allow rule covers a command: its program must be exactly the file that the rule means. */
export async function allowsCommand(
  rule: Rule,
  argv: readonly string[],
  places: ProgramPlaces,
  inShell: boolean,
): Promise<boolean> {
  const { pattern } = rule;
  const [name = "", ...others] = argv;
  const [ruled = ""] = pattern.kind === "command" ? pattern.words : [];
  if (pattern.kind !== "command" || basename(name) !== basename(ruled)) return false;
  if (!matchesWords(pattern, [ruled, ...others], rule.decision)) return false;
  const [meant, found] = await Promise.all([ruled, name].map((each) => findProgram(each, places, inShell)));
  return meant !== undefined && found !== undefined && isSameProgram(meant, found);
}

function isSameProgram(meant: Program, found: Program): boolean {
  if (meant.type === "unknown" || found.type === "unknown") return false;
  if (meant.type === "builtin" || found.type === "builtin") {
    return meant.type === "builtin" && found.type === "builtin" && meant.name === found.name;
  }
  return meant.path === found.path;
}

/**
 * Whether an `ask` or `deny` rule applies to a command. Matched more widely than an allow rule: by the name of the
 * program whatever its folder is, and also behind programs that run their arguments.
 */
export function restrictsCommand(
  rule: Rule,
  argv: readonly (string | undefined)[],
  isLauncher: (name: string) => boolean,
): boolean {
  const { pattern } = rule;
  if (pattern.kind !== "command") return false;
  const [ruled = "", ...more] = pattern.words;
  const words = [basename(ruled), ...more];
  const startsAt = (at: number): boolean => {
    const [name, ...others] = argv.slice(at);
    if (name === undefined || basename(name) !== words[0]) return false;
    if (!pattern.isPrefix && others.filter((each) => each !== undefined).length > more.length) return false;
    // An argument that only the shell knows may be the one of the rule.
    return more.every(
      (word, index) => index < others.length && (others[index] === undefined || others[index] === word),
    );
  };
  if (startsAt(0)) return true;
  const [name] = argv;
  return name !== undefined && isLauncher(name) && argv.some((_, at) => at > 0 && startsAt(at));
}

export function ruleReason({ decision, text, source, because }: Rule): string {
  const verb = { allow: "allows", ask: "asks about", deny: "denies" }[decision];
  return `the rule "${text}" of ${source} ${verb} it${because === undefined ? "" : `: ${because}`}`;
}
