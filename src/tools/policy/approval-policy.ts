import type { ApprovalPolicy, SandboxMode } from "../../messages/tools/policy.js";

/** The decision about a call: it runs, needs approval, or is refused. */
export type PolicyDecision =
  | { readonly type: "run" }
  | { readonly type: "ask"; readonly reason: string }
  | { readonly type: "refuse"; readonly reason: string };

interface PolicyInput {
  readonly readOnly: boolean;
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
}

/** There is no sandbox yet, so a call that changes something runs without approval only with full access. */
export function decideCall({ readOnly, policy, sandbox }: PolicyInput): PolicyDecision {
  if (readOnly) return run;
  return (sandbox === "danger-full-access" ? fullAccess : noSandbox)[policy];
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
  return { type: policy === "never" ? "refuse" : "ask", reason };
}

const run: PolicyDecision = { type: "run" };
const untrusted: PolicyDecision = {
  type: "ask",
  reason: "the approval policy untrusted requires approval for every change",
};
const unprotected: PolicyDecision = { type: "ask", reason: "no sandbox: every command needs approval" };

const fullAccess = {
  untrusted,
  "on-request": run,
  "on-failure": run,
  never: run,
} satisfies Record<ApprovalPolicy, PolicyDecision>;

const noSandbox = {
  untrusted,
  "on-request": unprotected,
  "on-failure": unprotected,
  never: {
    type: "refuse",
    reason:
      "the approval policy is never and there is no sandbox, so only read-only tools may run; " +
      "with the sandbox mode danger-full-access, all tools may run",
  },
} satisfies Record<ApprovalPolicy, PolicyDecision>;
