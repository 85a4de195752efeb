import { quotedCommand } from "../../base/text/quoted-command.js";
import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import type { ApprovalRequest, ReviewDecision } from "../../messages/tools/approval.js";
import { addKnowledge } from "../../tools/add-knowledge.js";
import type { CommandContext } from "../context.js";
import { approvalText, choicesOf, decisionOf, maxReasonChars, noApproverReason } from "./approval-text.js";
import type { Interruption } from "./interruption.js";
import type { Output } from "./output.js";
import { Prompt } from "./prompt/prompt.js";

const maxCommandChars = 500;
const commandHelp =
  "  To be asked, run cody in a terminal. To run everything without approval: --approval-policy never --sandbox danger-full-access";

/** After this many invalid answers the request is denied. */
const maxTimes = 3;

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

/** Shows text to a person and asks them for a line. */
interface ApprovalPrompt {
  /** The width of the terminal, if known. */
  readonly columns: number | undefined;
  show(text: string): Promise<void>;
  /** Resolves with the line typed after the question was shown; undefined if there was none. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

export function approvalPrompt(prompt: Pick<Prompt, "ask">, output: Output): ApprovalPrompt {
  return {
    columns: output.columns,
    show: (text) => output.write(text),
    ask: (question, signal) => prompt.ask(question, signal),
  };
}

/** Aborting the signal ends the question with `abort`. */
export async function askForApproval(
  request: ApprovalRequest,
  prompt: ApprovalPrompt,
  signal: AbortSignal,
): Promise<ReviewDecision> {
  await prompt.show(approvalText(request, prompt.columns));
  const keys = choicesOf(request).map(({ key }) => key);
  for (let times = 1; ; times += 1) {
    const answer = await prompt.ask(`${keys.join("/")} › `, signal);
    if (signal.aborted) return "abort";
    const decision = decisionOf(answer?.trim() ?? "", request);
    if (decision !== undefined) return decision;
    if (times === maxTimes) break;
    await prompt.show(`Please answer with ${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}.\n`);
  }
  await prompt.show("Treated as no.\n");
  return "denied";
}

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
  const commandText = shortened(quotedCommand(command), maxCommandChars);
  return { text: `Refused: needs approval, but cody cannot ask in this run: ${commandText}`, help: commandHelp };
}

function skippedKnowledge({ command, reason }: ApprovalRequest): { text: string; help: string } {
  const commandText = shortened(quotedCommand(command), maxCommandChars);
  const why = visible(shortened(reason ?? "it needs approval", maxReasonChars));
  return {
    text: `Knowledge not saved: needs approval, but cody cannot ask in this run: ${commandText}`,
    help: `  Approval is needed because: ${why}. To save it yourself: cody knowledge add`,
  };
}

/** Decides an approval request. When the signal is aborted, the decision is no longer needed. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ReviewDecision>;
