import { isDeepStrictEqual } from "node:util";
import { fromHookInput, matchedNames } from "../../../actors/conversation/hooks/tool-names.js";
import { errorMessage } from "../../../base/error-message.js";
import { parsed } from "../../../base/parse.js";
import { importClaudeSettings } from "../../../config/permissions/import-claude.js";
import { textOf } from "../../../config/permissions/permissions-file.js";
import { type ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import { PermissionAnswer } from "../../../messages/stream-json.js";
import type { ApprovalPolicy, SandboxMode } from "../../../messages/tools/policy.js";
import { prefixProblem } from "../../../tools/policy/launchers.js";
import { plainWords } from "../../../tools/policy/shell-line.js";
import type { Tool } from "../../../tools/tool.js";
import { usageError } from "../../command-error.js";

interface ModePolicies {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  /** Whether the program is asked about calls that need approval. */
  readonly asks: boolean;
}

/** Claude Code's permission modes as policies of cody. */
export const permissionModes = {
  default: { approvalPolicy: "untrusted", sandbox: "workspace-write", asks: true },
  acceptEdits: { approvalPolicy: "on-request", sandbox: "workspace-write", asks: true },
  plan: { approvalPolicy: "never", sandbox: "read-only", asks: false },
  dontAsk: { approvalPolicy: "untrusted", sandbox: "workspace-write", asks: false },
  bypassPermissions: { approvalPolicy: "never", sandbox: "danger-full-access", asks: false },
} as const satisfies Record<string, ModePolicies>;

export type PermissionMode = keyof typeof permissionModes;

/** The mode with this name; throws a text for the program. */
export function permissionMode(name: string, mayBypass: boolean): PermissionMode {
  if (!Object.hasOwn(permissionModes, name)) {
    throw usageError(`permission mode ${name}: expected ${Object.keys(permissionModes).join(", ")}`);
  }
  if (name === "bypassPermissions" && !mayBypass) {
    throw usageError("permission mode bypassPermissions needs --allow-dangerously-skip-permissions");
  }
  return name as PermissionMode;
}

interface ToolChoice {
  /** Rules of Claude Code for calls that need no question, and for calls that are refused. */
  readonly allowed: readonly string[];
  readonly disallowed: readonly string[];
  /** The only tools that may be used. */
  readonly only: readonly string[] | undefined;
}

/** The tools and rules that a program allows and forbids. */
export interface ChosenTools {
  /** Rules of cody for what is refused. */
  readonly deny: readonly string[];
  /** Whether the program allows this call without a question. */
  readonly isAllowed: (request: Pick<ApprovalRequest, "tool" | "command">) => boolean;
}

/** Translates the rules of a program. One that forbids something and has no equal is an error; one that allows is not. */
export function chosenTools({ allowed, disallowed, only }: ToolChoice, tools: readonly Tool[]): ChosenTools {
  const deny = [...disallowed.filter(isName), ...hiddenBy(only, tools)].flatMap((name) => toolRules(name, tools));
  for (const each of rulesOf(
    "deny",
    disallowed.filter((rule) => !isName(rule)),
  )) {
    if (!each.ok) throw usageError(`--disallowed-tools ${each.source}: ${each.reason}`);
    deny.push(textOf(each.rule));
  }
  const names = new Set(allowed.filter(isName));
  const commands = rulesOf(
    "allow",
    allowed.filter((rule) => !isName(rule)),
  ).flatMap((each) => (each.ok && typeof each.rule === "string" ? allowedCommand(each.rule) : []));
  const isAllowed: ChosenTools["isAllowed"] = ({ tool, command }) => {
    if (matchedNames(tool).some((name) => names.has(name))) return true;
    const words = tool === "shell" ? wordsOf(command) : undefined;
    return words !== undefined && commands.some((rule) => rule.matches(words));
  };
  return { deny, isAllowed };
}

/** A rule about one plain command, exact or by its first words. Rules about paths and tools are not of this kind. */
function allowedCommand(rule: string): { readonly matches: (words: readonly string[]) => boolean }[] {
  if (/^(?:read|write|tool):/.test(rule)) return [];
  const isPrefix = rule.endsWith(" *");
  const wanted = plainWords(isPrefix ? rule.slice(0, -1) : rule);
  if (wanted === undefined || (isPrefix && prefixProblem(wanted) !== undefined)) return [];
  const begins = (words: readonly string[]): boolean => wanted.every((word, index) => words[index] === word);
  return [{ matches: (words) => begins(words) && (isPrefix || words.length === wanted.length) }];
}

/** The words of a call of the shell, if it is one plain command. */
function wordsOf(command: readonly string[]): readonly string[] | undefined {
  const [shell, flag, line, ...others] = command;
  const isLine = shell === "sh" && flag === "-c" && line !== undefined && others.length === 0;
  return isLine ? plainWords(line) : command;
}

/** Splits a list at commas and spaces that are not inside parentheses. */
export function ruleList(texts: readonly string[] = []): string[] {
  return texts.flatMap((text) => text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []);
}

function rulesOf(decision: "allow" | "deny", rules: readonly string[]) {
  return importClaudeSettings({ permissions: { [decision]: rules } });
}

function isName(rule: string): boolean {
  return !rule.includes("(");
}

/** A name of Claude Code's may stand for several tools, or for none; a name of an MCP tool stands for itself. */
function toolRules(name: string, tools: readonly Tool[]): string[] {
  if (/^mcp__\w/.test(name)) return [`tool:${/__.+__/.test(name) ? name : `${name}__*`}`];
  return tools.filter((tool) => matchedNames(tool.name).includes(name)).map((tool) => `tool:${tool.name}`);
}

function hiddenBy(only: readonly string[] | undefined, tools: readonly Tool[]): string[] {
  if (only === undefined || only.includes("default")) return [];
  const kept = (tool: Tool): boolean => matchedNames(tool.name).some((name) => only.includes(name));
  return tools.filter((tool) => !kept(tool)).map(({ name }) => name);
}

interface AskedCall {
  readonly tool: string;
  /** The arguments that the program was asked about. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** The program's answer as a decision. */
export function decisionOf(answer: unknown, { tool, input }: AskedCall): ReviewDecision {
  const given = PermissionAnswer.safeParse(answer);
  if (!given.success) return refused("the program's answer to the permission request was not understood");
  if (given.data.behavior === "deny") {
    return given.data.interrupt === true ? "abort" : refused(given.data.message);
  }
  const { updatedInput } = given.data;
  if (updatedInput === undefined || updatedInput === null || isDeepStrictEqual(updatedInput, input)) return "approved";
  const decision = { approved_with_arguments: { arguments: fromHookInput(tool, updatedInput) } };
  try {
    return parsed(ReviewDecision, decision, "the program's answer to the permission request");
  } catch (error) {
    return refused(errorMessage(error));
  }
}

const maxReasonChars = 10_000;

export function refused(reason: string): ReviewDecision {
  return { denied: { rejection: reason.slice(0, maxReasonChars) } };
}
