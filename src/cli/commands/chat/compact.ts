import type { Conversation } from "../../../actors/conversation/handle.js";
import type { CompactionOutcome } from "../../../messages/compaction.js";
import { terminalApprover } from "../../terminal/approval.js";
import { existingTarget } from "../../conversations/choose-conversation.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { reportNotCompacted, previewText } from "../../terminal/context-text.js";
import { type ContextOf, printLine, printResult } from "../../context.js";
import { watchSignals } from "../../terminal/interruption.js";
import { compactionRenderer, type Renderer, rendererFor, problemRenderer } from "../../terminal/render.js";
import { compactedText, tokenText } from "../../format.js";
import { TurnPlayer } from "../../terminal/turn-player.js";
import { readOnlyContext, openWorkspace, type Workspace } from "../../workspace.js";

export async function compactCommand(context: ContextOf<"compact">): Promise<number> {
  const { args, flags } = context;
  if (flags.undo && (flags.dryRun || flags.strategy !== undefined || args.length > 0)) {
    throw usageError("--undo cannot be combined with other options or instructions");
  }
  return flags.dryRun ? await showPreview(readOnlyContext(context)) : await change(context);
}

async function showPreview(context: ContextOf<"compact">): Promise<number> {
  await using workspace = await openWorkspace(context);
  const conversation = await opened(context, workspace);
  const preview = await conversation.previewCompaction(strategyOf(context));
  await printResult(context, { text: previewText(preview).join("\n"), json: preview });
  return 0;
}

async function change(context: ContextOf<"compact">): Promise<number> {
  using interruption = watchSignals(context.terminal);
  await using workspace = await openWorkspace(context);
  if (!workspace.config.persistence.enabled) {
    throw new CommandError("Persistence is off: the compaction would not be saved", exitCodes.failed);
  }
  const conversation = await opened(context, workspace);
  const { signal } = interruption;
  let render: Renderer =
    conversation.openTurn === undefined ? problemRenderer(context) : rendererFor(context, "stderr");
  const player = new TurnPlayer(conversation, (event) => render(event));
  await player.open({ signal, approve: terminalApprover(context, interruption) });
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  render = compactionRenderer(context);
  const itemsBefore = (await conversation.readHistory()).length;
  const watched = await player.watch(changed(context, conversation), signal);
  const { result: outcome } = watched;
  if (context.flags.json) await printLine(context, JSON.stringify(outcome));
  else if (outcome.status === "compacted") {
    const itemsAfter = (await conversation.readHistory()).length;
    await printLine(context, resultText(context, outcome, [itemsBefore, itemsAfter]));
  }
  const isFailure = await reportNotCompacted(context, watched);
  const failed = isFailure || (context.flags.undo && outcome.status !== "compacted");
  return interruption.exitCode ?? (failed ? exitCodes.failed : 0);
}

async function opened(context: ContextOf<"compact">, workspace: Workspace): Promise<Conversation> {
  const target = await existingTarget(context, workspace);
  const conversation = await workspace.resume(target, { allowEmpty: true });
  if (conversation.notice !== undefined) await context.tell(conversation.notice);
  // A conversation that only Codex may write is continued in a copy, and the compacted copy becomes the active one.
  if (conversation.id !== target.id) await workspace.makeActive(conversation);
  return conversation;
}

async function changed(context: ContextOf<"compact">, conversation: Conversation): Promise<CompactionOutcome> {
  if (context.flags.undo) return await conversation.undoCompaction();
  const instructions = context.args.join(" ").trim();
  // The preview throws for an unknown strategy, so that a typo is reported before anything starts.
  if (context.flags.strategy !== undefined) await conversation.previewCompaction(strategyOf(context));
  return await conversation.compact({ ...strategyOf(context), ...(instructions === "" ? {} : { instructions }) });
}

function strategyOf({ flags: { strategy } }: ContextOf<"compact">): { readonly strategy?: string } {
  return strategy === undefined ? {} : { strategy };
}

type Compacted = Extract<CompactionOutcome, { status: "compacted" }>;

function resultText(
  { flags }: ContextOf<"compact">,
  { tokensBefore, tokensAfter }: Compacted,
  [itemsBefore, itemsAfter]: readonly [number, number],
): string {
  if (!flags.undo) return compactedText(tokensBefore, tokensAfter);
  const tokens = `${tokenText(tokensBefore)} → ${tokenText(tokensAfter)} tokens`;
  return `Compaction undone: ${tokens}, ${itemsBefore} → ${itemsAfter} items`;
}
