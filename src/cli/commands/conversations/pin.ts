import { findTarget } from "../../conversations/choose-conversation.js";
import { exitCodes } from "../../command-error.js";
import { type CommandContext, printResult } from "../../context.js";
import { openWorkspace } from "../../workspace.js";

export function pinCommand(context: CommandContext): Promise<number> {
  return setPinned(context, true);
}

export function unpinCommand(context: CommandContext): Promise<number> {
  return setPinned(context, false);
}

async function setPinned(context: CommandContext, pinned: boolean): Promise<number> {
  const [text = ""] = context.args;
  await using workspace = await openWorkspace(context);
  const { id } = await findTarget(context, workspace.places, text);
  const saved = await workspace.pin({ id }, pinned);
  if (saved.status !== "saved") {
    const reason = saved.status === "off" ? "persistence is off" : saved.reason;
    await context.tell(`Not ${pinned ? "pinned" : "unpinned"}: ${reason}`);
    return exitCodes.failed;
  }
  const label = pinned ? "✓ Pinned conversation" : "✓ Unpinned conversation";
  await printResult(context, { text: `${label}: ${id}`, json: { id, pinned } });
  return 0;
}
