import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isInside } from "../../../base/fs/path-checks.js";
import { decideReading, type PolicyContext } from "../../../tools/policy/approval-policy.js";
import { hiddenFiles } from "../../../tools/policy/read-policy.js";
import type { Reading } from "../../../tools/tool.js";
import { findProgram, type Program } from "../../../tools/policy/find-program.js";
import type { CommandPart, CommandParts, CommandPlaces } from "../../../tools/policy/judge-command.js";
import { type CommandPattern, coveringPattern } from "../../../tools/policy/launchers.js";
import type { CallContext } from "./call-context.js";

export type PolicyLookup = CallContext["policy"];

/** Returns the facts that decide about a call; those that do not change in a turn are looked up once. */
export function policyLookup(context: CallContext): PolicyLookup {
  let found: ReturnType<typeof turnFacts> | undefined;
  return async (needs) => {
    const { root, ...facts } = await (found ??= turnFacts(context));
    const rules = await context.permissions.rulesOf(root);
    if (needs === "no_sandbox") return { ...facts, rules };
    const { sandbox } = await context.openSandbox();
    const writable = [...facts.writes.writable, ...(sandbox?.spec.writableRoots ?? [])];
    return {
      ...facts,
      rules,
      isConfined: sandbox !== undefined,
      commands: { ...facts.commands, unsafe: [...facts.commands.unsafe, ...writable] },
      writes: { ...facts.writes, writable },
    };
  };
}

async function turnFacts(context: CallContext): Promise<Omit<PolicyContext, "rules"> & { readonly root: string }> {
  const { settings, permissions, approvedCommands, env } = context;
  const { approvalPolicy: policy, sandbox, cwd } = settings;
  const [workspace, root, temporary] = await Promise.all([
    realpath(cwd).catch(() => cwd),
    context.projectRoot(),
    permissions.temporaryFolders(),
  ]);
  const project = projectFolders(workspace, root);
  const commands = { path: env["PATH"] ?? "", unsafe: [...project, ...temporary], workspace: project };
  let closedPaths: Promise<readonly string[]> | undefined;
  const closed = (): Promise<readonly string[]> => (closedPaths ??= permissions.closedPaths());
  return {
    policy,
    sandbox,
    isConfined: false,
    root: root ?? workspace,
    commands,
    reads: { workspace: project, closed, isOpen: sandbox === "danger-full-access" },
    writes: { writable: [workspace], closed },
    isApproved: async (part, isOutside) => {
      if (approvedCommands.size === 0) return false;
      const key = await partKeys(part, { commands, sandbox, isOutside });
      const { argv } = part;
      const patterns = argv.map((_, index) => ({ words: argv.slice(0, index + 1), isPrefix: true }));
      return [...patterns, { words: argv, isPrefix: false }].some((pattern) => approvedCommands.has(key(pattern)));
    },
  };
}

/** The whole project is the workspace, unless it is a repository around the user's home. */
function projectFolders(workspace: string, root: string | undefined): readonly string[] {
  return root === undefined || isInside(root, homedir()) ? [workspace] : [workspace, root];
}

/**
 * Judges the files of a call again when they are opened, because a path may lead elsewhere by then. `approved` are the
 * real paths that the user has approved.
 */
export function readingOf(approved: readonly string[], context: CallContext): Reading {
  return {
    problem: async (file) => {
      const { decision, reason } = await decideReading(file, await context.policy("no_sandbox"));
      if (decision === "allow" || (decision === "ask" && approved.includes(file.realPath))) return undefined;
      return decision === "ask" ? `${reason}, and nobody was asked about it` : reason;
    },
    hiddenIn: async (start) => {
      const { rules, reads } = await context.policy("no_sandbox");
      return await hiddenFiles(start, [...rules.user, ...rules.project], reads);
    },
  };
}

interface KeyPlaces {
  readonly commands: CommandPlaces;
  readonly sandbox: string;
  readonly isOutside: boolean;
}

/** Identifies the commands that the user approves for the conversation with one command. */
export async function approvedKeys(parts: CommandParts, places: KeyPlaces): Promise<string[]> {
  if (parts.type !== "exact") return [];
  return await Promise.all(parts.parts.map(async (part) => (await partKeys(part, places))(coveringPattern(part.argv))));
}

/** The keys of a command and its beginnings: bound to its program, its folder, the sandbox mode and the sandbox. */
async function partKeys(
  { argv, cwd }: CommandPart,
  { commands, sandbox, isOutside }: KeyPlaces,
): Promise<(pattern: CommandPattern) => string> {
  const program: Program = await findProgram(argv[0] ?? "", { ...commands, cwd, unsafe: [] }, true);
  return (pattern) =>
    createHash("sha256")
      .update(JSON.stringify([pattern, program, cwd, sandbox, isOutside]))
      .digest("base64");
}
