import { type ApprovalPolicy, SandboxMode } from "../../../messages/tools/policy.js";
import { currentPolicyName } from "../state/settings.js";

/** The approval policy and the sandbox, which only make sense together. */
export interface Policies {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
}

/** Policies of which some or all may be unspecified. */
export type PartialPolicies = { readonly [K in keyof Policies]?: Policies[K] | undefined };

export interface PolicySources {
  /** The configured policies. */
  readonly present: Policies;
  /** The policies recorded in the rollout. */
  readonly recorded: PartialPolicies;
  /** The policies requested now for this conversation. */
  readonly asked: PartialPolicies;
}

/** Returns the policies of a resumed conversation: the requested ones, else the stricter of recorded and configured. */
export function resolvePolicies({ present, recorded, asked }: PolicySources): Policies {
  const sandbox = asked.sandbox ?? stricterOf(sandboxesByStrictness, present.sandbox, recorded.sandbox);
  const now = { ...present, sandbox: asked.sandbox ?? present.sandbox };
  const known = [now, recorded].flatMap((policies) => comparableApproval(policies) ?? []);
  const [first = present.approvalPolicy, second] = known.map(currentPolicyName);
  const order = sandbox === "danger-full-access" ? approvalsByQuestions : approvalsByRefusals;
  return { approvalPolicy: currentPolicyName(asked.approvalPolicy ?? stricterOf(order, first, second)), sandbox };
}

/** Strictest first. */
const sandboxesByStrictness = SandboxMode.options;
const approvalsByQuestions: readonly ApprovalPolicy[] = ["untrusted", "on-request", "on-failure", "never"];
/** Outside of full access, the policy `never` denies instead of asking, so it is the strictest. */
const approvalsByRefusals: readonly ApprovalPolicy[] = ["never", "untrusted", "on-request", "on-failure"];

/** A user who ran everything without approval did not want everything to be denied. */
function comparableApproval({ approvalPolicy, sandbox }: PartialPolicies): ApprovalPolicy | undefined {
  return approvalPolicy === "never" && sandbox === "danger-full-access" ? undefined : approvalPolicy;
}

function stricterOf<T>(order: readonly T[], present: T, recorded: T | undefined): T {
  return recorded !== undefined && order.indexOf(recorded) < order.indexOf(present) ? recorded : present;
}
