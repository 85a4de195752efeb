import { isInside } from "../../base/fs/path-checks.js";
import type { SandboxMode } from "../../messages/tools/policy.js";
import { protectedReason } from "./protected-paths.js";
import { type PathDecision, strictestRule } from "./read-policy.js";
import { type Rule, ruleReason } from "./rules.js";

export interface WritePlaces {
  /** The folders in which files are written without approval, as real paths. */
  readonly writable: readonly string[];
  /** Files and folders that are not written unless a rule allows it, as real paths. */
  readonly closed: () => Promise<readonly string[]>;
}

/** Decides about a file that cody itself writes; `path` is the real path. */
export async function decideWrite(
  path: string,
  rules: readonly Rule[],
  { writable, closed }: WritePlaces,
  { sandbox, isConfined }: { readonly sandbox: SandboxMode; readonly isConfined: boolean },
): Promise<PathDecision> {
  const rule = strictestRule(rules, "write", path);
  if (rule !== undefined) return { decision: rule.decision, reason: ruleReason(rule) };
  if (sandbox === "danger-full-access") return { decision: "allow", reason: "" };
  if ((await closed()).some((each) => isInside(each, path))) {
    return { decision: "deny", reason: `${path} may hold keys, passwords or another conversation` };
  }
  if (!writable.some((folder) => isInside(folder, path))) {
    return { decision: "ask", reason: `${path} is outside the working folder` };
  }
  const folder = writable.find((each) => isInside(each, path)) ?? "/";
  const why = protectedReason(path.slice(folder.length));
  if (why !== undefined) return { decision: "ask", reason: `${path} ${why}` };
  if (!isConfined) return { decision: "ask", reason: "no sandbox: every command needs approval" };
  if (sandbox === "read-only")
    return { decision: "ask", reason: "the sandbox mode read-only: every change needs approval" };
  return { decision: "allow", reason: "" };
}
