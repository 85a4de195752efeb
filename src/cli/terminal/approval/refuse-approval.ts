import type { CommandContext } from "../../context.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";
import type { ApprovalRequest } from "../../../messages/approval.js";
import { shortened } from "../../../base/text/shortened.js";
import { visible } from "../../../base/text/visible.js";
import { addKnowledge } from "../../../tools/add-knowledge.js";
import type { Approver } from "./approver.js";

const maxCommandChars = 500;
const maxReasonChars = 500;
/** The reason given to the model; the person has seen a longer one. */
export const nobodyThere = "it needs approval, and nobody is there to give it";
const commandHelp =
  "  To be asked, run cody in a terminal. To let everything run unasked: --approval-policy never --sandbox danger-full-access";

/** Refuses every request at once, for runs in which nobody can be asked. */
export function refuseApproval(context: CommandContext): Approver {
  return async (request) => {
    const { text, help } = isKnowledgeRequest(request) ? skippedKnowledge(request) : refusedCommand(request);
    context.log("info", text);
    await context.tell(`${text}\n${help}`);
    return { denied: { rejection: nobodyThere } };
  };
}

/** True for requests to save knowledge: an answer is complete without it. */
export function isKnowledgeRequest({ tool }: ApprovalRequest): boolean {
  return tool === addKnowledge.name;
}

function refusedCommand({ command }: ApprovalRequest): { text: string; help: string } {
  const shown = shortened(quotedCommand(command), maxCommandChars);
  return { text: `Refused, because it needs approval and nobody can be asked: ${shown}`, help: commandHelp };
}

function skippedKnowledge({ command, reason }: ApprovalRequest): { text: string; help: string } {
  const shown = shortened(quotedCommand(command), maxCommandChars);
  const why = visible(shortened(reason ?? "it needs approval", maxReasonChars));
  return {
    text: `Knowledge not saved, because nobody can be asked: ${shown}`,
    help: `  It needs approval: ${why}. To save it yourself: cody knowledge add`,
  };
}
