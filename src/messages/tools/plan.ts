import * as z from "zod";

const maxSteps = 100;
const maxStepChars = 1_000;
const maxExplanationChars = 5_000;

/** A model's plan, in Codex's format. */
export const Plan = z.object({
  explanation: z.string().max(maxExplanationChars).nullish().describe("Why the plan has changed"),
  plan: z
    .array(
      z.strictObject({
        step: z.string().min(1).max(maxStepChars),
        status: z.enum(["pending", "in_progress", "completed"]),
      }),
    )
    .min(1)
    .max(maxSteps)
    .describe("All the steps, in order"),
});
export type Plan = z.infer<typeof Plan>;
