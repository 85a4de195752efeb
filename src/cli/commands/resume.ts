import { findConversation } from "../../rollouts/list.js";
import { CommandError, exitCodes } from "../command-error.js";
import { type CommandContext, printResult } from "../context.js";
import { newestConversation } from "../project-conversations.js";
import { openWorkspace, type Workspace } from "../workspace.js";

/** Really resumes, which reads the whole file and takes its lock: what is confirmed here will work in `chat`. */
export async function resumeCommand(context: CommandContext): Promise<number> {
  await using workspace = await openWorkspace(context);
  const id = await wantedId(context, workspace);
  const conversation = await workspace.resume(id, { allowEmpty: false });
  const { provider, model } = conversation.settings;
  const isActive = await workspace.makeActive(id);
  const lines = [
    `✓ Resumed conversation: ${id}`,
    `  Provider: ${provider} (${model})`,
    ...(isActive ? [`  Continue chatting: cody chat "your message"`] : []),
  ];
  await printResult(context, { text: lines.join("\n"), json: { id, provider, model } });
  if (!isActive && !workspace.config.persistence.enabled) {
    const reason = context.flags.persistence ? "persistence is off" : "of --no-persistence";
    await context.tell(`Not made the active conversation, because ${reason}`);
  }
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  return 0;
}

async function wantedId({ args, flags }: CommandContext, { key }: Workspace): Promise<string> {
  const text = args[0] ?? (flags.resume === true ? undefined : flags.resume);
  if (text !== undefined) return await findConversation(key.directory, text);
  const newest = await newestConversation(key.directory, key.projectRoot);
  if (newest !== undefined) return newest;
  throw new CommandError("No saved conversation in this project", exitCodes.failed, ["List available: cody list"]);
}
