import type { ContextOf } from "../../context.js";
import { existingTarget } from "../../conversations/choose-conversation.js";
import { watchSignals } from "../../terminal/interruption.js";
import { openWorkspace } from "../../workspace.js";

/** Prints a conversation as text for people, or with --json as its complete data. Read-only. */
export async function showCommand(context: ContextOf<"show">): Promise<number> {
  using interruption = watchSignals(context.terminal);
  await using workspace = await openWorkspace(context);
  const target = await existingTarget(context, workspace, context.args[0]);
  context.about(target.id);
  const { stdout } = context.terminal;
  for await (const piece of await workspace.export(target, context.flags.json ? "json" : "markdown")) {
    if (interruption.exitCode !== undefined || stdout.closed) break;
    await (context.flags.json ? stdout.writeExact(piece) : stdout.write(piece));
  }
  return interruption.exitCode ?? 0;
}
