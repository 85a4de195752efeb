import { askAtTerminal } from "../approval/ask-at-terminal.js";
import { type Target, targetOf } from "../choose-conversation.js";
import { CommandError, exitCodes, usageError } from "../command-error.js";
import { type CommandContext, printResult } from "../context.js";
import { exitCodeOf } from "../exit-code.js";
import { watchSignals } from "../interruption.js";
import { newestConversation } from "../project-conversations.js";
import { rendererFor, troubleRenderer } from "../render.js";
import { TurnPlayer } from "../turn-player.js";
import { openWorkspace, type Workspace } from "../workspace.js";

/**
 * Really resumes, which reads the whole file and takes its lock: what is confirmed here will work in `chat`. A turn
 * that waits for an approval goes on, because leaving it would end it.
 */
export async function resumeCommand(context: CommandContext): Promise<number> {
  using interruption = watchSignals(context.terminal);
  await using workspace = await openWorkspace(context);
  const target = await wanted(context, workspace);
  const conversation = context.flags.fork
    ? await workspace.fork(target)
    : await workspace.resume(target, { allowEmpty: false });
  const { id, name } = conversation;
  const { provider, model } = conversation.settings;
  const isActive = await workspace.makeActive(conversation);
  const isCopy = id !== target.id;
  const lines = [
    `✓ Resumed conversation: ${id}`,
    ...(name === undefined ? [] : [`  Name: ${name}`]),
    ...(isCopy ? [`  A copy of: ${target.id}`] : []),
    `  Provider: ${provider} (${model})`,
    ...(isActive ? [`  Continue chatting: cody chat "your message"`] : []),
  ];
  const json = { id, name, provider, model, ...(isCopy ? { forkedFrom: target.id } : {}) };
  await printResult(context, { text: lines.join("\n"), json });
  if (!isActive && !workspace.config.persistence.enabled) {
    const reason = context.flags.persistence ? "persistence is off" : "of --no-persistence";
    await context.tell(`Not made the active conversation, because ${reason}`);
  }
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  const isPlaying = conversation.openTurn !== undefined;
  const render = isPlaying ? rendererFor(context, "stderr") : troubleRenderer(context);
  const player = new TurnPlayer(conversation, render);
  const outcome = await player.open({
    signal: interruption.signal,
    approve: askAtTerminal(context, interruption),
  });
  return interruption.exitCode ?? exitCodeOf(outcome);
}

async function wanted(context: CommandContext, { key, places }: Workspace): Promise<Target> {
  const { args, flags } = context;
  const text = args[0] ?? (flags.resume === true ? undefined : flags.resume);
  if (text !== undefined && flags.last) throw usageError("--last: an id was given too");
  if (text !== undefined) return await targetOf(context, places, text);
  const newest = await newestConversation(context, places, key.projectRoot);
  if (newest !== undefined) return { id: newest };
  const hint = flags.codex ? "List available: cody list --codex" : "List available: cody list";
  throw new CommandError("No saved conversation in this project", exitCodes.failed, [hint]);
}
