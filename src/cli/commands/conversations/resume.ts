import type { Conversation } from "../../../actors/conversation/handle.js";
import type { SettingFlag } from "../../arguments/flag-table.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, type SharedContext, printResult } from "../../context.js";
import { findTarget } from "../../conversations/choose-conversation.js";
import { newestConversation } from "../../conversations/project-conversations.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import { mayHaveScreen, ScreenContext } from "../../terminal/interactive/screen-output.js";
import { terminalApprover } from "../../terminal/approval.js";
import { watchSignals, type Interruption } from "../../terminal/interruption.js";
import { rendererFor, problemRenderer } from "../../terminal/render.js";
import { exitCodeOf, TurnPlayer } from "../../terminal/turn-player.js";
import { openWorkspace, type Workspace, type Target } from "../../workspace.js";

/**
 * Really resumes the conversation, which reads the whole file and takes its lock, so that a success here means `chat`
 * will work. A turn that waits for an approval continues, because leaving would end it.
 */
export async function resumeCommand(given: ContextOf<"resume">): Promise<number> {
  if (!mayHaveScreen(given)) return await resumeByLines(given);
  const output = new ScreenContext(given);
  try {
    await using workspace = await openWorkspace(output.context, { source: "interactive", control: "cli" });
    if (effectiveSetting(workspace.config, "terminal.screen")) {
      const target = await resumeTarget(output.context, workspace);
      const id = given.flags.fork ? (await workspace.fork(target)).conversationId : target.id;
      const { runScreen } = await import("../../terminal/interactive/app.js");
      return await runScreen({
        output,
        workspace,
        choice: given.flags.fork ? { type: "resume", id } : { type: "resume", ...target },
        first: "",
      });
    }
  } finally {
    await output.close();
  }
  return await resumeByLines(given);
}

async function resumeByLines(context: ContextOf<"resume">): Promise<number> {
  using interruption = watchSignals(context.terminal);
  await using workspace = await openWorkspace(context);
  const target = await resumeTarget(context, workspace);
  const conversation = context.flags.fork
    ? (await workspace.fork(target)).conversation
    : await workspace.resume(target, { allowEmpty: false });
  const forkedFrom = conversation.id === target.id ? undefined : target.id;
  return await continueConversation(context, workspace, interruption, {
    conversation,
    headline: "Resumed conversation",
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

/** A conversation that was opened to become the active one. */
interface OpenedConversation {
  readonly conversation: Conversation;
  /** The beginning of the output line, such as "Resumed conversation". */
  readonly headline: string;
  /** The id of the original, if this is a copy. */
  readonly forkedFrom?: string | undefined;
}

/** Prints the opened conversation, makes it active, and plays a pending turn, because leaving would end it. */
export async function continueConversation(
  context: SharedContext<SettingFlag>,
  workspace: Workspace,
  interruption: Interruption,
  { conversation, headline, forkedFrom }: OpenedConversation,
): Promise<number> {
  const { id, name } = conversation;
  const { provider, model } = conversation.settings;
  const isActive = await workspace.makeActive(conversation);
  const lines = [
    `✓ ${headline}: ${id}`,
    ...(name === undefined ? [] : [`  Name: ${name}`]),
    ...(forkedFrom === undefined ? [] : [`  Forked from: ${forkedFrom}`]),
    `  Provider: ${provider} (${model})`,
    ...(isActive ? [`  Continue chatting: cody chat "your message"`] : []),
  ];
  const json = { id, name, provider, model, ...(forkedFrom === undefined ? {} : { forkedFrom }) };
  await printResult(context, { text: lines.join("\n"), json });
  if (!isActive && !workspace.config.persistence.enabled) {
    const reason = context.flags.noPersistence === true ? "--no-persistence was given" : "persistence is off";
    await context.tell(`Not made the active conversation: ${reason}`);
  }
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  await warnTemporaryFlags(context);
  const isPlaying = conversation.openTurn !== undefined;
  const render = isPlaying ? rendererFor(context, "stderr") : problemRenderer(context);
  const player = new TurnPlayer(conversation, render);
  const outcome = await player.open({
    signal: interruption.signal,
    approve: terminalApprover(context, interruption),
  });
  return interruption.exitCode ?? exitCodeOf(outcome);
}

/** Warns about flags the next `cody chat` will not know: rollouts store neither the base URL nor full access. */
async function warnTemporaryFlags(context: SharedContext<SettingFlag>): Promise<void> {
  const { flags } = context;
  const temporary = [
    ...(flags.baseUrl === undefined ? [] : [["--base-url", "cody set-provider <provider> --base-url <url>"]]),
    ...(flags.sandbox === "danger-full-access" ? [["--sandbox", `cody config set sandbox ${flags.sandbox}`]] : []),
  ];
  for (const [flag, command] of temporary) {
    await context.tell(`${flag} applies to this command only. Pass it to cody chat too, or save it with: ${command}`);
  }
}
