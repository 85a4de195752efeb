import { expect, test } from "vitest";
import { resolvePolicies, type Policies } from "../../../../src/actors/conversation/state/settings.js";
import { ApprovalPolicy, SandboxMode } from "../../../../src/messages/tools/policy.js";
import { decideCall } from "../../../../src/tools/policy/approval-policy.js";

const approvals = ApprovalPolicy.options.filter((policy) => policy !== "on-failure");
const all: Policies[] = approvals.flatMap((approvalPolicy) =>
  SandboxMode.options.map((sandbox) => ({ approvalPolicy, sandbox })),
);

/** Ranks the decision for a writing call: 0 refuse, 1 ask, 2 run. */
function allowance({ approvalPolicy: policy, sandbox }: Policies): number {
  return ["refuse", "ask", "run"].indexOf(decideCall({ readOnly: false, policy, sandbox }).type);
}

test("policies recorded in a rollout never allow more than the present policies", () => {
  for (const present of all) {
    for (const recorded of all) {
      const resolved = resolvePolicies({ present, recorded, asked: {} });
      expect(allowance(resolved)).toBeLessThanOrEqual(allowance(present));
      expect(SandboxMode.options.indexOf(resolved.sandbox)).toBeLessThanOrEqual(
        SandboxMode.options.indexOf(present.sandbox),
      );
    }
  }
});

test("recorded policies never widen policies the caller asked for", () => {
  for (const present of all) {
    for (const recorded of all) {
      for (const { approvalPolicy, sandbox } of all) {
        const withSandbox = resolvePolicies({ present, recorded, asked: { sandbox } });
        expect(allowance(withSandbox)).toBeLessThanOrEqual(allowance({ ...present, sandbox }));
        const withPolicy = resolvePolicies({ present, recorded, asked: { approvalPolicy } });
        expect(allowance(withPolicy)).toBeLessThanOrEqual(allowance({ ...present, approvalPolicy }));
        expect(resolvePolicies({ present, recorded, asked: { approvalPolicy, sandbox } })).toEqual({
          approvalPolicy,
          sandbox,
        });
      }
    }
  }
});

const present: Policies = { approvalPolicy: "on-request", sandbox: "workspace-write" };

test.each([
  { recorded: {}, changes: {} },
  { recorded: { approvalPolicy: "untrusted" }, changes: { approvalPolicy: "untrusted" } },
  { recorded: { sandbox: "read-only" }, changes: { sandbox: "read-only" } },
  {
    recorded: { approvalPolicy: "never", sandbox: "read-only" },
    changes: { approvalPolicy: "never", sandbox: "read-only" },
  },
  // "never" with full access ran everything; combined with a stricter sandbox it would refuse everything instead.
  { recorded: { approvalPolicy: "never", sandbox: "danger-full-access" }, changes: {} },
  {
    recorded: { approvalPolicy: "untrusted", sandbox: "danger-full-access" },
    changes: { approvalPolicy: "untrusted" },
  },
] as const)("recorded $recorded changes the present policies by $changes", ({ recorded, changes }) => {
  expect(resolvePolicies({ present, recorded, asked: {} })).toEqual({ ...present, ...changes });
});

test("a conversation recorded with approvals keeps asking even if the present policies run everything", () => {
  const open: Policies = { approvalPolicy: "never", sandbox: "danger-full-access" };
  expect(resolvePolicies({ present: open, recorded: present, asked: {} })).toEqual(present);
  expect(resolvePolicies({ present: open, recorded: open, asked: {} })).toEqual(open);
});
