import { conversationName } from "../../../base/text/conversation-name.js";
import { findTarget } from "../../conversations/choose-conversation.js";
import { exitCodes } from "../../command-error.js";
import { type CommandContext, printResult } from "../../context.js";
import { openWorkspace } from "../../workspace.js";

export async function renameCommand(context: CommandContext): Promise<number> {
  const [text = "", newName = ""] = context.args;
  const name = conversationName(newName);
  await using workspace = await openWorkspace(context);
  const target = await findTarget(context, workspace.places, text);
  const saved = await workspace.rename(target, name);
  if (saved.status !== "saved") {
    await context.tell(`Not renamed: ${saved.status === "off" ? "persistence is off" : saved.reason}`);
    return exitCodes.failed;
  }
  await printResult(context, {
    text: `✓ Renamed conversation: ${target.id}\n  Name: ${name}`,
    json: { id: target.id, name },
  });
  return 0;
}
