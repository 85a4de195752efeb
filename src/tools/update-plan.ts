import { Plan } from "../messages/tools/plan.js";
import { defineTool } from "./define-tool.js";

const UpdatePlanArguments = Plan.strict().refine(
  ({ plan }) => plan.filter(({ status }) => status === "in_progress").length <= 1,
  "at most one step may be in progress",
);

export const updatePlan = defineTool({
  name: "update_plan",
  description:
    "Shows the user your plan and its progress: all steps, each pending, in_progress (at most one) or " +
    "completed. Use it for work of several steps, and again when a step is done.",
  parameters: UpdatePlanArguments,
  readOnly: true,
  readsOutside: false,
  run: ({ explanation, plan }, context) => {
    context.emit({ type: "plan_update", explanation, plan });
    return "Plan updated";
  },
});
