import { Plan } from "../messages/plan.js";
import { defineTool } from "./define-tool.js";

const UpdatePlanArguments = Plan.strict().refine(
  ({ plan }) => plan.filter(({ status }) => status === "in_progress").length <= 1,
  "at most one step may be in progress",
);

export const updatePlan = defineTool({
  name: "update_plan",
  description:
    "Shows the user what you mean to do and how far you are: all steps, each pending, in_progress (one at most) or " +
    "completed. For work of several steps; say it again when a step is done.",
  parameters: UpdatePlanArguments,
  readOnly: true,
  readsOutside: false,
  run: ({ explanation, plan }, context) => {
    context.emit({ type: "plan_update", explanation, plan });
    return "Plan updated";
  },
});
