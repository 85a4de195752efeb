import { type ApprovalPolicy, SandboxMode } from "../../../messages/tools/policy.js";
import { presentPolicy } from "../state/settings.js";

/** The approval policy and the sandbox, which only make sense together. */
export interface Policies {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
}

/** Policies of which some or all may be unspecified. */
export type SaidPolicies = { readonly [K in keyof Policies]?: Policies[K] | undefined };

export interface PolicySources {
  /** The configured policies. */
  readonly present: Policies;
  /** The policies recorded in the rollout. */
  readonly recorded: SaidPolicies;
  /** The policies requested now for this conversation. */
  readonly asked: SaidPolicies;
}

/** Returns the policies of a resumed conversation: the requested ones, else the stricter of recorded and configured. */
export function heldPolicies({ present, recorded, asked }: PolicySources): Policies {
  const sandbox = asked.sandbox ?? stricter(byRights, present.sandbox, recorded.sandbox);
  const now = { ...present, sandbox: asked.sandbox ?? present.sandbox };
  const known = [now, recorded].flatMap((policies) => approvalOf(policies) ?? []);
  const [first = present.approvalPolicy, second] = known.map(presentPolicy);
  const order = sandbox === "danger-full-access" ? byQuestions : byRefusals;
  return { approvalPolicy: presentPolicy(asked.approvalPolicy ?? stricter(order, first, second)), sandbox };
}

/** Strictest first. */
const byRights = SandboxMode.options;
const byQuestions: readonly ApprovalPolicy[] = ["untrusted", "on-request", "on-failure", "never"];
/** Outside of full access, the policy `never` denies instead of asking, so it is the strictest. */
const byRefusals: readonly ApprovalPolicy[] = ["never", "untrusted", "on-request", "on-failure"];

/** A user who ran everything without approval did not want everything to be denied. */
function approvalOf({ approvalPolicy, sandbox }: SaidPolicies): ApprovalPolicy | undefined {
  return approvalPolicy === "never" && sandbox === "danger-full-access" ? undefined : approvalPolicy;
}

function stricter<T>(order: readonly T[], present: T, recorded: T | undefined): T {
  return recorded !== undefined && order.indexOf(recorded) < order.indexOf(present) ? recorded : present;
}
