import type { ApprovalPolicy, SandboxMode } from "../../messages/tools/policy.js";

/** The decision about a call: it runs, needs approval, or is refused. */
export type Verdict =
  | { readonly type: "run" }
  | { readonly type: "ask"; readonly reason: string }
  | { readonly type: "refuse"; readonly reason: string };

export interface Judged {
  readonly readOnly: boolean;
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
}

/** There is no sandbox yet, so a call that changes something runs without approval only with full access. */
export function judge({ readOnly, policy, sandbox }: Judged): Verdict {
  if (readOnly) return run;
  return (sandbox === "danger-full-access" ? fullAccess : noSandbox)[policy];
}

export interface JudgedKnowledge extends Omit<Judged, "readOnly"> {
  /** Whether the user trusts the project that the knowledge is saved in. */
  readonly isTrusted: boolean;
  /** Describes content from outside the project that the turn has read; undefined if there is none. */
  readonly outside: string | undefined;
}

/**
 * Judges saving knowledge, which is shown to every later conversation of the project. With full access, a command could
 * write the same file, so that asking would protect nothing.
 */
export function judgeKnowledge({ policy, sandbox, isTrusted, outside }: JudgedKnowledge): Verdict {
  if (sandbox === "danger-full-access" || policy === "untrusted") return judge({ readOnly: false, policy, sandbox });
  if (isTrusted && outside === undefined) return run;
  const reason = isTrusted
    ? `this turn read content from outside the project (${outside}), which may instruct the model what to save`
    : "the project is not trusted; after `cody trust`, models may save knowledge in it without approval";
  return { type: policy === "never" ? "refuse" : "ask", reason };
}

const run: Verdict = { type: "run" };
const untrusted: Verdict = {
  type: "ask",
  reason: "the approval policy untrusted requires approval for every change",
};
const unprotected: Verdict = { type: "ask", reason: "no sandbox: every command needs approval" };

const fullAccess = {
  untrusted,
  "on-request": run,
  "on-failure": run,
  never: run,
} satisfies Record<ApprovalPolicy, Verdict>;

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
} satisfies Record<ApprovalPolicy, Verdict>;
