import { sendReport } from "../../crash/report.js";
import { type SequenceHome, sequenceManager } from "../sequences/manager.js";
import type { Place } from "../sequences/places.js";
import { readTurn } from "../sequences/turns.js";

export interface SequencerOrder extends SequenceHome {
  readonly conversation: string;
  readonly place: Place;
}

// Continues a conversation until it is killed.
const order = JSON.parse(process.argv[2] ?? "") as SequencerOrder;
const manager = sequenceManager(order);
const conversation = await manager.resumeConversation(order.conversation, { ...order.place, allowEmpty: true });
sendReport({ type: "resumed" });
for (let turn = 1; turn <= 2; turn += 1) {
  const id = await conversation.submit(`question ${turn} of a process that will be killed`);
  await readTurn(conversation, id, ({ type }) => {
    sendReport({ type });
    return false;
  });
}
sendReport({ type: "done" });
// Runs until it is killed or its parent closes stdin.
process.stdin.resume();
