import { type ApprovalPolicy, SandboxMode } from "../../../messages/policy.js";
import { presentPolicy } from "../state/settings.js";

/** What is asked for and what is allowed, which only make sense together. */
export interface Policies {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
}

/** The same where not all of it, or nothing, is said. */
export type SaidPolicies = { readonly [K in keyof Policies]?: Policies[K] | undefined };

export interface PolicySources {
  /** What is configured. */
  readonly present: Policies;
  /** What a rollout says it was played with. */
  readonly recorded: SaidPolicies;
  /** What somebody asks for now, for this conversation. */
  readonly asked: SaidPolicies;
}

/** The policies of a conversation that goes on: what is asked for, else the stricter of recorded and present. */
export function heldPolicies({ present, recorded, asked }: PolicySources): Policies {
  const sandbox = asked.sandbox ?? stricter(byRights, present.sandbox, recorded.sandbox);
  const now = { ...present, sandbox: asked.sandbox ?? present.sandbox };
  const known = [now, recorded].flatMap((policies) => approvalOf(policies) ?? []);
  const [first = present.approvalPolicy, second] = known.map(presentPolicy);
  const order = sandbox === "danger-full-access" ? byQuestions : byRefusals;
  return { approvalPolicy: presentPolicy(asked.approvalPolicy ?? stricter(order, first, second)), sandbox };
}

/** The strictest first. */
const byRights = SandboxMode.options;
const byQuestions: readonly ApprovalPolicy[] = ["untrusted", "on-request", "on-failure", "never"];
/** Outside of full access, who is never asked is refused. */
const byRefusals: readonly ApprovalPolicy[] = ["never", "untrusted", "on-request", "on-failure"];

/** Who let everything run unasked did not mean that everything should be refused. */
function approvalOf({ approvalPolicy, sandbox }: SaidPolicies): ApprovalPolicy | undefined {
  return approvalPolicy === "never" && sandbox === "danger-full-access" ? undefined : approvalPolicy;
}

function stricter<T>(order: readonly T[], present: T, recorded: T | undefined): T {
  return recorded !== undefined && order.indexOf(recorded) < order.indexOf(present) ? recorded : present;
}
