import { findTarget } from "../../conversations/choose-conversation.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import type { ContextOf } from "../../context.js";
import { watchSignals } from "../../terminal/interruption.js";
import { newestConversation } from "../../conversations/project-conversations.js";
import { continueConversation } from "./continue-conversation.js";
import { openWorkspace, type Workspace } from "../../workspace.js";
import type { Target } from "../../conversations/target.js";

/**
 * Really resumes the conversation, which reads the whole file and takes its lock, so that a success here means `chat`
 * will work. A turn that waits for an approval continues, because leaving would end it.
 */
export async function resumeCommand(context: ContextOf<"resume">): Promise<number> {
  using interruption = watchSignals(context.terminal);
  await using workspace = await openWorkspace(context);
  const target = await resumeTarget(context, workspace);
  const conversation = context.flags.fork
    ? (await workspace.fork(target)).conversation
    : await workspace.resume(target, { allowEmpty: false });
  const forkedFrom = conversation.id === target.id ? undefined : target.id;
  return await continueConversation(context, workspace, interruption, {
    conversation,
    said: "Resumed conversation",
    forkedFrom,
  });
}

async function resumeTarget(context: ContextOf<"resume">, { key, places }: Workspace): Promise<Target> {
  const { args, flags } = context;
  const [id] = args;
  if (id !== undefined && typeof flags.resume === "string")
    throw usageError("--resume cannot be combined with another id");
  const text = id ?? (flags.resume === true ? undefined : flags.resume);
  if (text !== undefined && flags.last) throw usageError("--last cannot be combined with an id");
  if (text !== undefined && flags.continue) throw usageError("--continue cannot be combined with an id");
  if (text !== undefined) return await findTarget(context, places, text);
  const newest = await newestConversation(context, places, key.projectRoot);
  if (newest !== undefined) return { id: newest };
  const hint = flags.codex ? "List available: cody list --codex" : "List available: cody list";
  throw new CommandError("No saved conversation in this project", exitCodes.failed, [hint]);
}
