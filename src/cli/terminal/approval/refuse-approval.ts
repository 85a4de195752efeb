import type { CommandContext } from "../../context.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";
import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import { addKnowledge } from "../../../tools/add-knowledge.js";
import type { Approver } from "./approver.js";

const maxCommandChars = 500;
const maxRefusalReasonChars = 500;
/** The reason given to the model; the person has seen a longer one. */
export const noApproverReason = "it needs approval, and approvals are not available in this run";
const commandHelp =
  "  To be asked, run cody in a terminal. To run everything without approval: --approval-policy never --sandbox danger-full-access";

/** Refuses every request at once, for runs in which nobody can be asked. */
export function refusingApprover(context: CommandContext): Approver {
  return async (request) => {
    const { text, help } = isKnowledgeRequest(request) ? skippedKnowledge(request) : refusedCommand(request);
    context.log("info", text);
    await context.tell(`${text}\n${help}`);
    return { denied: { rejection: noApproverReason } };
  };
}

/** True for requests to save knowledge: an answer is complete without it. */
export function isKnowledgeRequest({ tool }: ApprovalRequest): boolean {
  return tool === addKnowledge.name;
}

function refusedCommand({ command }: ApprovalRequest): { text: string; help: string } {
  const shown = shortened(quotedCommand(command), maxCommandChars);
  return { text: `Refused: needs approval, but cody cannot ask in this run: ${shown}`, help: commandHelp };
}

function skippedKnowledge({ command, reason }: ApprovalRequest): { text: string; help: string } {
  const shown = shortened(quotedCommand(command), maxCommandChars);
  const why = visible(shortened(reason ?? "it needs approval", maxRefusalReasonChars));
  return {
    text: `Knowledge not saved: needs approval, but cody cannot ask in this run: ${shown}`,
    help: `  Approval is needed because: ${why}. To save it yourself: cody knowledge add`,
  };
}
