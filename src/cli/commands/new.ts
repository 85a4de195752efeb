import { type CommandContext, printLine } from "../context.js";
import { openWorkspace } from "../workspace.js";

export async function newCommand(context: CommandContext): Promise<number> {
  await using workspace = await openWorkspace(context);
  const { conversation, conversationId, saved } = await workspace.create();
  await printLine(context, conversationId);
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  if (saved.status === "off") await context.tell("Not saved: persistence is off");
  if (saved.status === "not_saved") {
    context.log("warn", `new conversation not saved: ${saved.reason}`);
    await context.tell(`Not saved: ${saved.reason}`);
  }
  await workspace.makeActive(conversationId);
  return 0;
}
