import { lstat, realpath } from "node:fs/promises";
import { basename } from "node:path";
import { isInside } from "../../base/fs/path-checks.js";
import type { RuleDecision } from "../../messages/tools/permissions.js";
import type { FoundFile, HiddenFiles } from "../tool.js";
import { isLinkTo, linksTo } from "./linked-files.js";
import { type Rule, ruleReason } from "./rules.js";
import { isSecretFile, secretGlobs } from "./secret-files.js";

export interface ReadPlaces {
  /** The folders whose files are read without approval, as real paths. */
  readonly workspace: readonly string[];
  /**
   * Files and folders that are not read unless a rule allows it, as real paths: keys of other programs, and
   * conversations. The same list for every call of a turn.
   */
  closed(): Promise<readonly string[]>;
  /** Whether all other files are read without approval, because a command could read them, too. */
  readonly isOpen: boolean;
}

/** The decision about reading or writing a file; the reason says why it needs approval or is refused. */
export interface PathDecision {
  readonly decision: RuleDecision;
  readonly reason: string;
}

/** Decides about a file by its real path and its inode, so that links make no difference. */
export async function decideRead(
  { realPath, stats }: FoundFile,
  rules: readonly Rule[],
  places: ReadPlaces,
): Promise<PathDecision> {
  const rule = strictestRule(rules, "read", realPath);
  if (rule !== undefined) return { decision: rule.decision, reason: ruleReason(rule) };
  const closed = await places.closed();
  if (closed.some((path) => isInside(path, realPath)) || (await isLinkTo(stats, closed))) {
    return {
      decision: "deny",
      reason: `${realPath} may hold keys, passwords or another conversation; ${hint(realPath)}`,
    };
  }
  if (places.isOpen) return { decision: "allow", reason: "" };
  if (!places.workspace.some((folder) => isInside(folder, realPath))) {
    return { decision: "ask", reason: `${realPath} is outside the working folder` };
  }
  if (isSecretFile(basename(realPath))) return { decision: "ask", reason: `${realPath} may hold keys or passwords` };
  return { decision: "allow", reason: "" };
}

function hint(path: string): string {
  return `to allow it: cody permissions allow "read:${path}"`;
}

/** The strictest of the rules that apply to a path or a tool. */
export function strictestRule(
  rules: readonly Rule[],
  kind: "read" | "write" | "tool",
  value: string,
): Rule | undefined {
  const matching = rules.filter(({ pattern }) => pattern.kind === kind && pattern.matches(value));
  return (["deny", "ask", "allow"] as const)
    .map((decision) => matching.find((rule) => rule.decision === decision))
    .find((rule) => rule !== undefined);
}

export async function foundFile(path: string): Promise<FoundFile | undefined> {
  try {
    const realPath = await realpath(path);
    return { realPath, stats: await lstat(realPath, { bigint: true }) };
  } catch {
    return undefined;
  }
}

/** The paths and globs that a search leaves out, because it cannot ask about each file it finds. */
export async function hiddenFiles(start: string, rules: readonly Rule[], places: ReadPlaces): Promise<HiddenFiles> {
  const closed = await places.closed();
  const restricted = rules.flatMap(({ decision, pattern }) =>
    pattern.kind === "read" && decision !== "allow" ? [pattern.path] : [],
  );
  const isOpen = (path: string): boolean => strictestRule(rules, "read", path)?.decision === "allow";
  const paths = [...closed, ...(await linksTo(start, closed))].filter(
    (path) => !isInside(path, start) && !isOpen(path),
  );
  return {
    paths,
    globs: [...(places.isOpen ? [] : secretGlobs), ...restricted.flatMap((path) => [path, `${path}/**`])],
  };
}
