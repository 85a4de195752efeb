import type { Conversation } from "../../../src/actors/conversation/handle.js";
import type { ExecApprovalRequest, ReviewDecision } from "../../../src/messages/tools/approval.js";
import type { EventMsg } from "../../../src/messages/event.js";
import { FailureError } from "../../../src/messages/failure-error.js";

export type TurnEnd = Extract<EventMsg, { type: "task_complete" | "turn_aborted" }>;

/**
 * Reads events until the turn with that id, or of the submission with that id, has ended or `isEnough` is true; answers
 * approval requests on the way.
 */
export async function readTurn(
  conversation: Conversation,
  ownId: string,
  isEnough: (msg: EventMsg) => boolean | Promise<boolean> = () => false,
): Promise<TurnEnd | undefined> {
  let isBegun = false;
  for (;;) {
    const event = await conversation.nextEvent();
    const { msg } = event;
    if (isEnd(msg) && (msg.turn_id === ownId || event.id === ownId)) return msg;
    if (msg.type === "task_started") isBegun = true;
    if (!isBegun && event.id === ownId && msg.type === "error") throw new Error(`no turn began: ${msg.message}`);
    if (await isEnough(msg)) return undefined;
    if (msg.type === "exec_approval_request") {
      await answer(conversation, msg);
    }
  }
}

/** An interrupt may have closed the request before its answer arrives. */
async function answer(conversation: Conversation, msg: ExecApprovalRequest): Promise<void> {
  try {
    await conversation.submit({ type: "exec_approval", id: msg.approval_id, decision: decisionOn(msg) });
  } catch (error) {
    if (!(error instanceof FailureError && error.code === "invalid_request")) throw error;
  }
}

/** A tool that runs until it is stopped must not start again after a crash. */
function decisionOn({ tool, command }: ExecApprovalRequest): ReviewDecision {
  if (tool === "wait") return "denied";
  return command.join(" ").includes('"no"') ? { denied: { rejection: "rather not" } } : "approved";
}

function isEnd(msg: EventMsg): msg is TurnEnd {
  return msg.type === "task_complete" || msg.type === "turn_aborted";
}
