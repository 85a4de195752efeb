import type { CommandContext } from "../../context.js";
import { Prompt } from "../prompt/prompt.js";
import type { Interruption } from "../interruption.js";
import type { Output } from "../output.js";
import type { Approver } from "./approver.js";
import { askForApproval, approvalPrompt } from "./ask-person.js";
import { refusingApprover } from "./refuse-approval.js";

/** Asks the person at the terminal, in commands that read nothing else there. Refuses without a terminal. */
export function terminalApprover(context: CommandContext, interruption: Interruption): Approver {
  const refuse = refusingApprover(context);
  return async (request, signal) => {
    const { stdin } = context.terminal;
    const output = questionOutput(context);
    if (stdin.isTTY !== true || output === undefined) return await refuse(request, signal);
    const prompt = await Prompt.open(stdin, output.stream, {
      line: () => undefined,
      interrupt: () => interruption.interrupt(),
      end: () => undefined,
    });
    try {
      return await askForApproval(request, approvalPrompt(prompt, output), signal);
    } finally {
      prompt.close();
    }
  };
}

/** Stdout is for the answers, and with --json for events only. */
function questionOutput({ terminal: { stdout, stderr }, flags }: CommandContext): Output | undefined {
  if (stderr.isTTY) return stderr;
  return stdout.isTTY && !flags.json ? stdout : undefined;
}
