import { expect, test } from "vitest";
import { resolvePolicies, type Policies } from "../../../../src/actors/conversation/state/settings.js";
import { ApprovalPolicy, SandboxMode } from "../../../../src/messages/tools/policy.js";
import { decideCall } from "../../../../src/tools/policy/approval-policy.js";

const approvals = ApprovalPolicy.options.filter((policy) => policy !== "on-failure");
const all: Policies[] = approvals.flatMap((approvalPolicy) =>
  SandboxMode.options.map((sandbox) => ({ approvalPolicy, sandbox })),
);

/** How much a call that changes something is allowed. */
function allowance({ approvalPolicy: policy, sandbox }: Policies): number {
  return ["refuse", "ask", "run"].indexOf(decideCall({ readOnly: false, policy, sandbox }).type);
}

test("what a file says never allows more than what holds now", () => {
  for (const present of all) {
    for (const recorded of all) {
      const held = resolvePolicies({ present, recorded, asked: {} });
      expect(allowance(held)).toBeLessThanOrEqual(allowance(present));
      expect(SandboxMode.options.indexOf(held.sandbox)).toBeLessThanOrEqual(
        SandboxMode.options.indexOf(present.sandbox),
      );
    }
  }
});

test("what a file says allows nothing beside what is asked for, either", () => {
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
  { recorded: {}, held: {} },
  { recorded: { approvalPolicy: "untrusted" }, held: { approvalPolicy: "untrusted" } },
  { recorded: { sandbox: "read-only" }, held: { sandbox: "read-only" } },
  {
    recorded: { approvalPolicy: "never", sandbox: "read-only" },
    held: { approvalPolicy: "never", sandbox: "read-only" },
  },
  // Who lets everything run unasked has not asked for everything to be refused.
  { recorded: { approvalPolicy: "never", sandbox: "danger-full-access" }, held: {} },
  {
    recorded: { approvalPolicy: "untrusted", sandbox: "danger-full-access" },
    held: { approvalPolicy: "untrusted" },
  },
] as const)("$recorded in a file leaves $held of what holds now", ({ recorded, held }) => {
  expect(resolvePolicies({ present, recorded, asked: {} })).toEqual({ ...present, ...held });
});

test("who lets everything run unasked is asked in a conversation that asked", () => {
  const open: Policies = { approvalPolicy: "never", sandbox: "danger-full-access" };
  expect(resolvePolicies({ present: open, recorded: present, asked: {} })).toEqual(present);
  expect(resolvePolicies({ present: open, recorded: open, asked: {} })).toEqual(open);
});
