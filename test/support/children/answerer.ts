import { ConversationManager } from "../../../src/manager.js";
import { sendReport } from "../../crash/report.js";
import { effectProvider } from "../../crash/effect-provider.js";

export interface AnswererOrder {
  readonly home: string;
  readonly runtimeDirectory: string;
  /** A file with one line for each effect, written by the effect itself. */
  readonly effects: string;
  /** Begins a conversation with a call of this name, and dies when it is asked about it. */
  readonly asks?: string;
  /** Whether the call kills the process that runs it, right after its effect. */
  readonly killsAfterEffect?: boolean;
  /** Answers the request of this conversation, or resumes it when there is none. */
  readonly conversation?: string;
  /** Whether the answer is only recorded. */
  readonly records?: boolean;
  /** The number of events of the conversation that it sees before it dies; it lives on if there are fewer. */
  readonly events?: number;
  /** Whether it dies as soon as the answer is given. */
  readonly diesAnswered?: boolean;
}

// Asks for an approval, or answers one through the manager, and dies at the given point.
const order = JSON.parse(process.argv[2] ?? "") as AnswererOrder;
const manager = new ConversationManager({
  home: order.home,
  env: { XDG_RUNTIME_DIR: order.runtimeDirectory },
  cwd: order.home,
  providers: [effectProvider(order.effects, order.asks ?? "", () => order.killsAfterEffect === true)],
});
if (order.asks !== undefined) await ask();
else if (order.conversation !== undefined) await answer(order.conversation);
await manager.shutdown();

async function ask(): Promise<void> {
  const { conversation } = await manager.newConversation({ provider: "effects", model: "effects" });
  await conversation.submit("do it");
  for await (const { msg } of conversation.events()) {
    if (msg.type !== "exec_approval_request") continue;
    sendReport({ type: "asked", conversation: conversation.id });
    die();
  }
}

async function answer(id: string): Promise<void> {
  const pending = (await manager.listApprovals()).find(({ conversationId }) => conversationId === id);
  let seen = 0;
  // The events of a conversation that is being resumed come before the answer is applied.
  const reading = (async () => {
    for await (const { conversation_id, msg } of manager.events()) {
      if (conversation_id !== id) continue;
      if (seen === order.events) die();
      seen += 1;
      if (msg.type === "task_complete" || msg.type === "turn_aborted") return;
    }
  })();
  if (pending !== undefined && pending.answer === undefined) {
    const options = { conversationId: id, resume: order.records !== true };
    await manager.answerApproval(pending.approvalId, "approved", options);
    if (order.diesAnswered === true) die();
    if (order.records === true) return;
  } else await manager.resumeConversation(id, { cwd: "recorded", allowEmpty: true });
  if (manager.getConversation(id)?.openTurn !== undefined) await reading;
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable");
}
