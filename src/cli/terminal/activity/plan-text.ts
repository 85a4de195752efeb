import type { Plan } from "../../../messages/plan.js";
import { shownLine } from "../../../base/text/shown-lines.js";
import { visible } from "../../../base/text/visible.js";

const marks = { pending: "☐", in_progress: "▸", completed: "✔" } as const;

/** A plan as a list with a mark for each step. */
export function planText({ explanation, plan }: Plan): string {
  const why = explanation ? [visible(explanation)] : [];
  const steps = plan.map(({ step, status }) => `${marks[status]} ${visible(step)}`);
  return `Plan\n${[...why, ...steps].map(shownLine).join("")}`;
}
