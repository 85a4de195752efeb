import { type CommandContext, printResult, nameFlag } from "../../context.js";
import { persistenceFailureText } from "../../terminal/render.js";
import { openWorkspace } from "../../workspace.js";

export async function newCommand(context: CommandContext): Promise<number> {
  const name = nameFlag(context);
  await using workspace = await openWorkspace(context);
  const { conversation, conversationId, saved } = await workspace.create(name);
  const json = { id: conversationId, ...name, saved: saved.status === "saved" };
  await printResult(context, { text: conversationId, json });
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  if (saved.status === "off") await context.tell("Not saved: persistence is off");
  if (saved.status === "not_saved") {
    context.log("warn", persistenceFailureText(saved.reason));
    await context.tell(`Not saved: ${saved.reason}. Check the folder ${workspace.key.directory}`);
  }
  await workspace.makeActive(conversation);
  return 0;
}
