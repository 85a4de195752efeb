import { appendFileSync } from "node:fs";
import { ConversationManager } from "../../../src/manager.js";
import type { Conversation } from "../../../src/actors/conversation/handle.js";
import type { EventMsg } from "../../../src/messages/event.js";
import { sendReport } from "../../crash/report.js";
import { effectProvider } from "../../crash/effect-provider.js";

/**
 * Where a doer dies: right after its effect, at the approval request, after the approval, or when the test kills it.
 */
export type Death = "after_effect" | "when_asked" | "when_approved" | "when_told" | "never";

export interface DoerOrder {
  readonly home: string;
  readonly runtimeDirectory: string;
  readonly conversation?: string;
  /** A file with one line for each effect, written by the effect itself. */
  readonly effects: string;
  /** A file with one line for each approval, written before the approval is sent. */
  readonly approvals: string;
  readonly label: string;
  readonly death: Death;
  /** The number of the turn it dies in. */
  readonly turn: number;
}

// Plays turns whose only call has an effect, approves every call, and dies at the given point.
const order = JSON.parse(process.argv[2] ?? "") as DoerOrder;
let turns = 0;
const manager = new ConversationManager({
  home: order.home,
  env: { XDG_RUNTIME_DIR: order.runtimeDirectory },
  cwd: order.home,
  providers: [effectProvider(order.effects, order.label, () => isLast() && order.death === "after_effect")],
});
const conversation = await opened();
const unfinished = conversation.openTurn?.turnId;
sendReport({ type: "opened", conversation: conversation.id });
if (unfinished !== undefined) await playUntilEnd(conversation);
do {
  turns += 1;
  await conversation.submit("do it");
  await playUntilEnd(conversation);
} while (order.death !== "never" || !isLast());
await manager.shutdown();

async function opened(): Promise<Conversation> {
  if (order.conversation !== undefined)
    return await manager.resumeConversation(order.conversation, { allowEmpty: true });
  return (await manager.newConversation({ provider: "effects", model: "effects" })).conversation;
}

function isLast(): boolean {
  return turns >= order.turn;
}

async function playUntilEnd(played: Conversation): Promise<void> {
  for (;;) {
    const { msg } = await played.nextEvent();
    await react(msg);
    sendReport({ type: msg.type, ...(msg.type === "warning" ? { message: msg.message } : {}) });
    if (msg.type === "task_complete" || (msg.type === "turn_aborted" && msg.saved !== undefined)) return;
  }
}

async function react(msg: EventMsg): Promise<void> {
  if (msg.type !== "exec_approval_request") return;
  if (isLast() && order.death === "when_asked") process.kill(process.pid, "SIGKILL");
  appendFileSync(order.approvals, `${msg.call_id}\n`);
  await conversation.submit({ type: "exec_approval", id: msg.approval_id, decision: "approved" });
  if (isLast() && order.death === "when_approved") process.kill(process.pid, "SIGKILL");
}
