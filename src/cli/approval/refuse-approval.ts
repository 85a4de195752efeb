import type { CommandContext } from "../context.js";
import { quotedCommand } from "../../messages/quoted-command.js";
import { shortened } from "../../messages/shortened.js";
import type { Approver } from "./approver.js";

const maxCommandChars = 500;
/** What the model is told; the person has been told more. */
export const nobodyThere = "it needs approval, and nobody is there to give it";
const hint =
  "  To be asked, run cody in a terminal. To let everything run unasked: --approval-policy never --sandbox danger-full-access";

/** Where nobody can be asked, the answer is no, at once. */
export function refuseApproval(context: CommandContext): Approver {
  return async ({ command }) => {
    const shown = shortened(quotedCommand(command), maxCommandChars);
    const text = `Refused, because it needs approval and nobody can be asked: ${shown}`;
    context.log("info", text);
    await context.tell(`${text}\n${hint}`);
    return { denied: { rejection: nobodyThere } };
  };
}
