import type { ApprovalPolicy, SandboxMode } from "../../messages/tools/policy.js";
import type { CommandAccess, CommandLine, FoundFile, PathAccess } from "../tool.js";
import { type CommandPart, type CommandParts, type CommandPlaces, matchCommand, partsOf } from "./judge-command.js";
import { decideRead, foundFile, type PathDecision, type ReadPlaces, strictestRule } from "./read-policy.js";
import { type Rule, ruleReason } from "./rules.js";
import { decideWrite, type WritePlaces } from "./write-policy.js";

/** The decision about a call: it runs, needs approval, or is refused. `isOutside`: it is not confined by a sandbox. */
export type PolicyDecision =
  | { readonly type: "run"; readonly isOutside: boolean }
  | { readonly type: "ask"; readonly reason: string; readonly isOutside: boolean }
  | { readonly type: "refuse"; readonly reason: string };

/** The settings that decide where no rule does. */
export interface Situation {
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  /** Whether commands are confined by a sandbox that works here. */
  readonly isConfined: boolean;
}

/** The rules of one project. */
export interface ActiveRules {
  /** The user's own rules. They take precedence over the defaults. */
  readonly user: readonly Rule[];
  /** The project's rules. They can only make a decision stricter. */
  readonly project: readonly Rule[];
  /** The reason why some rules cannot be used: then everything needs approval. */
  readonly problem?: string | undefined;
}

/** The facts that the decision about a call depends on besides the call. */
export interface PolicyContext extends Situation {
  readonly rules: ActiveRules;
  readonly commands: CommandPlaces;
  readonly reads: ReadPlaces;
  readonly writes: WritePlaces;
  /** Whether the user has approved such commands for the conversation. */
  isApproved(part: CommandPart, isOutside: boolean): Promise<boolean>;
}

interface JudgedCall {
  readonly tool: string;
  readonly readOnly: boolean;
  readonly command: CommandLine;
}

const run: PolicyDecision = { type: "run", isOutside: true };
const noSandbox = "no sandbox: every command needs approval";

interface PolicyInput extends Omit<Situation, "isConfined"> {
  readonly readOnly: boolean;
  readonly isConfined?: boolean;
}

/** Decides about a call without rules. */
export function decideCall({ readOnly, policy, sandbox, isConfined = false }: PolicyInput): PolicyDecision {
  if (readOnly || (sandbox === "danger-full-access" && policy !== "untrusted")) return run;
  return restricted(policy, isConfined ? "the tool runs outside the sandbox" : noSandbox);
}

interface KnowledgePolicyInput extends Omit<PolicyInput, "readOnly"> {
  /** Whether the user trusts the project that the knowledge is saved in. */
  readonly isTrusted: boolean;
  /** Describes content from outside the project that the turn has read; undefined if there is none. */
  readonly outside: string | undefined;
}

/**
 * Judges saving knowledge, which is shown to every later conversation of the project. With full access, a command could
 * write the same file, so that asking would protect nothing.
 */
export function decideKnowledge({ policy, sandbox, isTrusted, outside }: KnowledgePolicyInput): PolicyDecision {
  if (sandbox === "danger-full-access" || policy === "untrusted")
    return decideCall({ readOnly: false, policy, sandbox });
  if (isTrusted && outside === undefined) return run;
  const reason = isTrusted
    ? `this turn read content from outside the project (${outside}), which may instruct the model what to save`
    : "the project is not trusted; after `cody trust`, models may save knowledge in it without approval";
  return policy === "never" ? { type: "refuse", reason } : { type: "ask", reason, isOutside: true };
}

/** Decides about a call: by the user's rules, else by the settings; a project's rules can make it stricter. */
export async function judgeCall(call: JudgedCall, context: PolicyContext): Promise<PolicyDecision> {
  const { access } = call.command;
  const { problem } = context.rules;
  if (call.readOnly && access === undefined) return byToolRules(call, run, context);
  if (problem !== undefined) {
    const isOutside = !(access?.type === "command" && isInside(access, context));
    return restricted(context.policy, `the permission rules cannot be used: ${problem}`, isOutside);
  }
  if (access === undefined) return byToolRules(call, decideCall({ ...context, readOnly: false }), context);
  const decided =
    access.type === "command" ? await judgeCommand(call.command, access, context) : await judgePaths(access, context);
  return byToolRules(call, decided, context, { mayAllow: false });
}

/** Asks about a call, or refuses it where nobody may be asked. */
function restricted(policy: ApprovalPolicy, reason: string, isOutside = true): PolicyDecision {
  if (policy === "never")
    return { type: "refuse", reason: reason.startsWith(noSandbox) ? neverHere : neverAsks(reason) };
  if (policy === "untrusted" && reason.startsWith(noSandbox)) return { type: "ask", reason: untrusted, isOutside };
  return { type: "ask", reason, isOutside };
}

const untrusted = "the approval policy untrusted requires approval for every change";

const neverHere =
  "the approval policy is never and there is no sandbox, so only read-only tools may run; " +
  "with the sandbox mode danger-full-access, all tools may run";

function neverAsks(reason: string): string {
  return `${reason}, and the approval policy is never to ask`;
}

/**
 * Rules about tools apply to every call. Those that allow one count only where nothing more specific is known: what a
 * command or a path may do is not decided by the name of a tool.
 */
export function byToolRules(
  { tool }: Pick<JudgedCall, "tool">,
  decided: PolicyDecision,
  { rules, policy }: Pick<PolicyContext, "rules" | "policy">,
  { mayAllow } = { mayAllow: true },
): PolicyDecision {
  const own = strictestRule(rules.user, "tool", tool);
  const theirs = strictestRule(rules.project, "tool", tool);
  const isOutside = decided.type === "refuse" || decided.isOutside;
  const base =
    own?.decision === "allow" && mayAllow && policy !== "untrusted" ? { type: "run" as const, isOutside } : decided;
  return [own, theirs]
    .flatMap((rule) => (rule === undefined ? [] : [{ decision: rule.decision, reason: ruleReason(rule) }]))
    .reduce((result, rule) => stricter(result, rule, policy, isOutside), base);
}

/** Applies the decision of a rule where it is stricter. */
function stricter(
  decided: PolicyDecision,
  { decision, reason }: PathDecision,
  policy: ApprovalPolicy,
  isOutside: boolean,
): PolicyDecision {
  if (decision === "allow" || decided.type === "refuse") return decided;
  if (decision === "deny") return { type: "refuse", reason };
  return decided.type === "ask" ? decided : restricted(policy, reason, isOutside);
}

function isInside({ isEscalated }: CommandAccess, { isConfined, sandbox }: Situation): boolean {
  return isConfined && !isEscalated && sandbox !== "danger-full-access";
}

async function judgeCommand(
  { argv, cwd }: CommandLine,
  access: CommandAccess,
  context: PolicyContext,
): Promise<PolicyDecision> {
  const { policy, rules } = context;
  const commands: CommandPlaces = { ...context.commands, known: new Map() };
  const isOutside = !isInside(access, context);
  const parts = await partsOf({ argv, cwd }, commands);
  const approved = await approvedParts(parts, isOutside, context);
  const own = await matchCommand(parts, rules.user, commands, approved);
  const theirs = await matchCommand(parts, rules.project, commands, approved);
  const open = defaultOfCommand(access, isOutside, parts.type === "unparsed" ? parts.reason : undefined, context);
  const isAllowed = own?.decision === "allow" && (policy !== "untrusted" || own.isExact);
  const base: PolicyDecision = isAllowed ? { type: "run", isOutside } : open;
  return [own, theirs].reduce<PolicyDecision>(
    (result, match) => (match === undefined ? result : stricter(result, match, policy, isOutside)),
    base,
  );
}

async function approvedParts(
  parts: CommandParts,
  isOutside: boolean,
  context: PolicyContext,
): Promise<ReadonlySet<CommandPart>> {
  if (parts.type !== "exact") return new Set();
  const answers = await Promise.all(parts.parts.map((part) => context.isApproved(part, isOutside)));
  return new Set(parts.parts.filter((_, index) => answers[index]));
}

function defaultOfCommand(
  { isEscalated, justification }: CommandAccess,
  isOutside: boolean,
  problem: string | undefined,
  { policy, sandbox, isConfined }: Situation,
): PolicyDecision {
  const why = isEscalated && justification !== undefined ? `; the model's reason: ${justification}` : "";
  if (policy === "untrusted") return { type: "ask", reason: untrusted + why, isOutside };
  if (sandbox === "danger-full-access") return run;
  if (!isConfined) return restricted(policy, noSandbox + why);
  if (isEscalated) return restricted(policy, `it would run outside the sandbox${why}`);
  if (problem !== undefined) return restricted(policy, `the command line cannot be judged: ${problem}`, isOutside);
  return { type: "run", isOutside };
}

const strictness = ["allow", "ask", "deny"] as const;

/** The strictest decision about all paths of a call. */
async function judgePaths(access: PathAccess, context: PolicyContext): Promise<PolicyDecision> {
  const decisions = await Promise.all(
    access.paths.map(async (path) =>
      access.type === "read" ? await decideReading(await foundFile(path), context) : await decideWriting(path, context),
    ),
  );
  const [worst] = decisions.toSorted((a, b) => strictness.indexOf(b.decision) - strictness.indexOf(a.decision));
  if (worst?.decision === "deny") return { type: "refuse", reason: worst.reason };
  if (worst?.decision === "ask") return restricted(context.policy, worst.reason);
  if (access.type === "read" || context.policy !== "untrusted") return run;
  return { type: "ask", reason: untrusted, isOutside: true };
}

/** Decides about a file that a tool reads; one that does not exist may be read, which then fails. */
export async function decideReading(file: FoundFile | undefined, context: PolicyContext): Promise<PathDecision> {
  if (file === undefined) return { decision: "allow", reason: "" };
  const own = await decideRead(file, context.rules.user, context.reads);
  return tightened(own, strictestRule(context.rules.project, "read", file.realPath));
}

async function decideWriting(path: string, context: PolicyContext): Promise<PathDecision> {
  const own = await decideWrite(path, context.rules.user, context.writes, context);
  return tightened(own, strictestRule(context.rules.project, "write", path));
}

function tightened(own: PathDecision, rule: Rule | undefined): PathDecision {
  if (rule === undefined || strictness.indexOf(rule.decision) <= strictness.indexOf(own.decision)) return own;
  return { decision: rule.decision, reason: ruleReason(rule) };
}
