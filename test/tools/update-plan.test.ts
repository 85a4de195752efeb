import { expect, test } from "vitest";
import { updatePlan } from "../../src/tools/update-plan.js";
import { call, toolContext } from "./tool-context.js";

const step = (name: string, status: string) => ({ step: name, status });

test("a plan is emitted unchanged", async () => {
  const context = await toolContext();
  const plan = [step("look", "completed"), step("do", "in_progress"), step("test", "pending")];
  expect(await call(updatePlan, { explanation: "so", plan }, context)).toEqual({
    content: "Plan updated",
    success: true,
  });
  expect(context.events.seen).toEqual([{ type: "plan_update", explanation: "so", plan }]);
});

test.each([
  ["no step", { plan: [] }],
  ["two steps in progress", { plan: [step("a", "in_progress"), step("b", "in_progress")] }],
  ["an unknown status", { plan: [step("a", "done")] }],
  ["an empty step", { plan: [step("", "pending")] }],
  ["too many steps", { plan: Array.from({ length: 101 }, () => step("a", "pending")) }],
  ["an unknown key", { plan: [step("a", "pending")], x: 1 }],
])("a plan with %s is refused", (_, args) => {
  expect(updatePlan.parameters.safeParse(args).success).toBe(false);
});
