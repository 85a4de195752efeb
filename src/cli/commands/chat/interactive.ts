import { counted } from "../../../base/text/counted.js";
import { chooseByFlags } from "../../conversations/choose-conversation.js";
import type { CommandContext } from "../../context.js";
import { answerLines } from "../../terminal/prompt/answer-lines.js";
import { askTrust } from "../../terminal/prompt/ask-trust.js";
import { converse } from "../../terminal/prompt/converse.js";
import { CurrentConversation } from "../../terminal/prompt/current-conversation.js";
import { watchSignals } from "../../terminal/interruption.js";
import { openWorkspace } from "../../workspace.js";

export async function interactiveCommand(context: CommandContext): Promise<number> {
  const { stdin, stdout } = context.terminal;
  const isInteractive = stdin.isTTY === true && stdout.isTTY && !context.flags.json;
  if (isInteractive) await askTrust(context);
  await using workspace = await openWorkspace(context, isInteractive ? "interactive" : "non_interactive");
  const activity = isInteractive ? "stdout" : "stderr";
  const choice = (await chooseByFlags(context, workspace)) ?? { type: "new" };
  const current = await CurrentConversation.open({ context, workspace, activity }, choice);
  if (isInteractive) return await converse(context, current);
  using interruption = watchSignals(context.terminal);
  if (current.messages > 0) await context.tell(`Resumed conversation with ${counted(current.messages, "message")}`);
  const exitCode = await answerLines(context, current, interruption);
  return interruption.exitCode ?? exitCode;
}
