import { realpath, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { RuleDecision } from "../../messages/tools/permissions.js";
import { findProgram, type ProgramPlaces } from "./find-program.js";
import { coveringPattern, isLauncher, isOfferedForGood } from "./launchers.js";
import { allowsCommand, restrictsCommand, type Rule, ruleReason } from "./rules.js";
import { type PlainCommand, readShellLine, type SeenCommand } from "./shell-line.js";

/** Shells whose `-c` line is judged command by command. */
const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash"]);

export interface CommandPlaces extends Omit<ProgramPlaces, "cwd"> {
  /** The folders in which `cd` may lead a line without approval, as real paths. */
  readonly workspace: readonly string[];
}

interface CommandToMatch {
  readonly argv: readonly string[];
  readonly cwd: string;
}

/** One program that a command certainly runs, with its arguments and folder. */
export interface CommandPart {
  readonly argv: readonly string[];
  readonly cwd: string;
}

/** The programs that a command runs, as far as they are known before it runs. */
export type CommandParts =
  /** Exactly these run. */
  | { readonly type: "exact"; readonly parts: readonly CommandPart[]; readonly inShell: boolean }
  /** These run, and maybe others. */
  | { readonly type: "open"; readonly reason: string; readonly seen: readonly SeenCommand[] }
  | { readonly type: "unparsed"; readonly reason: string };

export async function partsOf({ argv, cwd }: CommandToMatch, places: CommandPlaces): Promise<CommandParts> {
  const [name = "", flag, script, ...others] = argv;
  const isScript = shells.has(basename(name)) && flag === "-c" && script !== undefined && others.length === 0;
  const real = await realpath(cwd).catch(() => cwd);
  if (!isScript) return { type: "exact", parts: [{ argv, cwd: real }], inShell: false };
  const line = await readShellLine(script);
  if (line.type === "unparsed") return line;
  if (line.type === "complex") return { type: "open", reason: line.reason, seen: line.commands };
  const shell = await findProgram(name, { ...places, cwd: real }, false);
  const isKnown = shell.type === "installed" || (shell.type === "file" && /^(?:\/usr)?\/bin\//.test(shell.path));
  const seen = line.commands.map((command) => command.argv);
  if (!isKnown) return { type: "open", reason: `${name} is not the system's shell`, seen };
  return { type: "exact", parts: await placedParts(line.commands, real, places), inShell: true };
}

/** A line that begins with `cd FOLDER &&` runs the rest in that folder, if it is in the workspace. */
async function placedParts(
  commands: readonly PlainCommand[],
  cwd: string,
  { workspace }: CommandPlaces,
): Promise<CommandPart[]> {
  const [first, second] = commands;
  const [name, folder, ...others] = first?.argv ?? [];
  const all = commands.map(({ argv }) => ({ argv, cwd }));
  if (name !== "cd" || folder === undefined || others.length > 0 || second?.after !== "&&") return all;
  const target = await realpath(resolve(cwd, folder)).catch(() => undefined);
  if (folder.startsWith("-") || folder === "" || target === undefined) return all;
  const isFolder = (await stat(target)).isDirectory() && workspace.some((root) => `${target}/`.startsWith(`${root}/`));
  return isFolder ? all.slice(1).map(({ argv }) => ({ argv, cwd: target })) : all;
}

/** The decision of some rules about a command. */
interface RuleMatch {
  readonly decision: RuleDecision;
  readonly reason: string;
  /** Whether only rules without `*` allow it. */
  readonly isExact: boolean;
}

/**
 * The strictest decision of all matching rules: `deny` or `ask` if any part of the command needs it, `allow` only if
 * every part is allowed. Undefined if the rules leave it open. `approved` are parts that the user has approved for the
 * conversation.
 */
export async function matchCommand(
  parts: CommandParts,
  rules: readonly Rule[],
  places: CommandPlaces,
  approved: ReadonlySet<CommandPart>,
): Promise<RuleMatch | undefined> {
  const restricting = rules.filter(({ decision, pattern }) => decision !== "allow" && pattern.kind === "command");
  const exact = parts.type === "exact" ? parts.parts : [];
  const seen = parts.type === "open" ? parts.seen : exact.map(({ argv }) => argv);
  // An answer of the user satisfies a rule that asks, but not one that denies.
  const unanswered = parts.type === "open" ? seen : exact.filter((part) => !approved.has(part)).map(({ argv }) => argv);
  const rule = restrictingRule(restricting, "deny", seen) ?? restrictingRule(restricting, "ask", unanswered);
  if (rule !== undefined) return { decision: rule.decision, reason: ruleReason(rule), isExact: true };
  const isHidden = parts.type === "unparsed" || seen.some(([name]) => name === undefined);
  if (isHidden && restricting.length > 0) {
    const reason = "only the shell knows which commands it runs, and rules forbid some";
    return { decision: "ask", reason, isExact: true };
  }
  if (exact.length === 0) return undefined;
  const allowing = rules.filter(({ decision, pattern }) => decision === "allow" && pattern.kind === "command");
  let isExact = true;
  for (const part of exact) {
    if (approved.has(part)) continue;
    const found = await allowingRule(allowing, part, places, parts.type === "exact" && parts.inShell);
    if (found?.pattern.kind !== "command") return undefined;
    isExact &&= !found.pattern.isPrefix;
  }
  return { decision: "allow", reason: "", isExact };
}

function restrictingRule(
  rules: readonly Rule[],
  decision: RuleDecision,
  commands: readonly SeenCommand[],
): Rule | undefined {
  return rules.find(
    (each) => each.decision === decision && commands.some((argv) => restrictsCommand(each, argv, isLauncher)),
  );
}

/** Prefers a rule for exactly this command. */
async function allowingRule(
  rules: readonly Rule[],
  { argv, cwd }: CommandPart,
  places: CommandPlaces,
  inShell: boolean,
): Promise<Rule | undefined> {
  // A command such as `npm test` does what the folder says that it runs in.
  if (!places.workspace.some((root) => `${cwd}/`.startsWith(`${root}/`))) return undefined;
  let prefix: Rule | undefined;
  for (const rule of rules) {
    if (!(await allowsCommand(rule, argv, { ...places, cwd }, inShell))) continue;
    if (rule.pattern.kind === "command" && !rule.pattern.isPrefix) return rule;
    prefix ??= rule;
  }
  return prefix;
}

/**
 * The command that a person may allow for good in a project, as the words of a rule; undefined if there is none: the
 * command has several parts or is not plain, or its program can run others.
 */
export async function ruleForGood(parts: CommandParts, places: CommandPlaces): Promise<string[] | undefined> {
  if (parts.type !== "exact") return undefined;
  const [part, ...others] = parts.parts;
  const [name = ""] = part?.argv ?? [];
  if (part === undefined || others.length > 0 || !isOfferedForGood(name)) return undefined;
  if (!coveringPattern(part.argv).isPrefix || part.argv.includes("*")) return undefined;
  const program = await findProgram(name, { ...places, cwd: part.cwd }, parts.inShell);
  return program.type === "installed" ? [...part.argv] : undefined;
}
