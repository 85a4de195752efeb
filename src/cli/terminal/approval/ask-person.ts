import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import type { Prompt } from "../prompt/prompt.js";
import type { Output } from "../output.js";
import { approvalText } from "./approval-text.js";

/** Shows text to a person and asks them for a line. */
export interface ApprovalPrompt {
  /** The width of the terminal, if known. */
  readonly columns: number | undefined;
  show(text: string): Promise<void>;
  /** Resolves with the line typed after the question was shown; undefined if there was none. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

export function approvalPrompt(prompt: Prompt, output: Output): ApprovalPrompt {
  return {
    columns: output.columns,
    show: (text) => output.write(text),
    ask: (question, signal) => prompt.ask(question, signal),
  };
}

/** After this many invalid answers the request is denied. */
const maxTimes = 3;
const answerPrompt = "y/a/n/s › ";
const decisions: ReadonlyMap<string, ReviewDecision> = new Map([
  ["y", "approved"],
  ["yes", "approved"],
  ["a", "approved_for_session"],
  ["n", "denied"],
  ["no", "denied"],
  ["s", "abort"],
]);

/** Aborting the signal ends the question with `abort`. */
export async function askForApproval(
  request: ApprovalRequest,
  person: ApprovalPrompt,
  signal: AbortSignal,
): Promise<ReviewDecision> {
  await person.show(approvalText(request, person.columns));
  for (let times = 1; ; times += 1) {
    const answer = await person.ask(answerPrompt, signal);
    if (signal.aborted) return "abort";
    const decision = decisions.get(answer?.trim().toLowerCase() ?? "");
    if (decision !== undefined) return decision;
    if (times === maxTimes) break;
    await person.show("Please answer with y, a, n or s.\n");
  }
  await person.show("Treated as no.\n");
  return "denied";
}
