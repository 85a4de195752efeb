import { existingTarget } from "../../conversations/choose-conversation.js";
import { contextText } from "../../terminal/context-text.js";
import { type CommandContext, printResult } from "../../context.js";
import { readOnlyContext, openWorkspace } from "../../workspace.js";

/** Shows the context a model would see. Read-only, so it also works while the conversation is in use. */
export async function contextCommand(callerContext: CommandContext): Promise<number> {
  const context = readOnlyContext(callerContext);
  await using workspace = await openWorkspace(context);
  const target = await existingTarget(context, workspace, context.args[0]);
  const conversation = await workspace.resume(target, { allowEmpty: true, withoutKey: true });
  const usage = await conversation.contextUsage();
  const lines = contextText(usage, context.terminal.stdout.columns);
  await printResult(context, { text: lines.join("\n"), json: usage });
  return 0;
}
