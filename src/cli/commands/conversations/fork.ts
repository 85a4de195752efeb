import { conversationName } from "../../../base/text/conversation-name.js";
import { existingTarget } from "../../conversations/choose-conversation.js";
import { CommandError, exitCodes } from "../../command-error.js";
import type { ContextOf } from "../../context.js";
import { watchSignals } from "../../terminal/interruption.js";
import { continueConversation } from "./resume.js";
import { openWorkspace } from "../../workspace.js";

/** Continues in a copy of a conversation, as it is or as it was after a turn. */
export async function forkCommand(context: ContextOf<"fork">): Promise<number> {
  const { afterTurn, name } = context.flags;
  const named = name === undefined ? {} : { name: conversationName(name) };
  using interruption = watchSignals(context.terminal);
  await using workspace = await openWorkspace(context);
  const target = await existingTarget(context, workspace, context.args[0]);
  const request = { ...named, withoutKey: true, ...(afterTurn === undefined ? {} : { afterTurn }) };
  const { conversation, saved } = await workspace.fork(target, request);
  if (saved.status === "not_saved") throw new CommandError(`Not forked: ${saved.reason}`, exitCodes.failed);
  return await continueConversation(context, workspace, interruption, {
    conversation,
    headline: "Forked conversation",
    forkedFrom: target.id,
  });
}
