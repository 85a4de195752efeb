import { expect, test } from "vitest";
import { updatePlan } from "../../src/tools/update-plan.js";
import { call, toolContext } from "./tool-context.js";

const step = (name: string, status: string) => ({ step: name, status });

test("a plan is told as it is", async () => {
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
  ["two at once", { plan: [step("a", "in_progress"), step("b", "in_progress")] }],
  ["another status", { plan: [step("a", "done")] }],
  ["a step without words", { plan: [step("", "pending")] }],
  ["too many steps", { plan: Array.from({ length: 101 }, () => step("a", "pending")) }],
  ["something else", { plan: [step("a", "pending")], x: 1 }],
])("a plan with %s is refused", (_, args) => {
  expect(updatePlan.parameters.safeParse(args).success).toBe(false);
});
