import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { Event } from "../../src/messages/event.js";
import { type AnswerLengths, newQuestion } from "./question.js";
import type { Random } from "./random.js";
import { sendReport, type Report } from "./report.js";

const interruptedShare = 0.15;
const deltasBeforeInterrupt = 3;

export interface Play {
  /** The prefix of the questions. */
  readonly label: string;
  readonly random: Random;
  readonly turns?: number;
  readonly answers?: AnswerLengths;
}

/** Plays one turn after another and reports every event, until the process is killed or all turns have been played. */
export async function playTurns(conversation: Conversation, play: Play): Promise<void> {
  const { label, random, turns = Infinity, answers } = play;
  for (let turn = 1; turn <= turns; turn += 1) {
    const question = newQuestion(`${label} ${conversation.id} turn ${turn}`, random, answers);
    await playTurn(conversation, question, random.next() < interruptedShare);
  }
}

async function playTurn(conversation: Conversation, question: string, interrupted: boolean): Promise<void> {
  const submissionId = await conversation.submit(question);
  let deltas = 0;
  for (;;) {
    const event = await conversation.nextEvent();
    sendReport(reportOf(event, question));
    if (event.id !== submissionId) continue;
    if (event.msg.type === "agent_message_delta") {
      deltas += 1;
      if (interrupted && deltas === deltasBeforeInterrupt) await conversation.interrupt();
    }
    if (event.msg.type === "task_complete" || event.msg.type === "turn_aborted") return;
  }
}

function reportOf({ conversation_id: conversation, msg }: Event, question: string): Report {
  if (msg.type !== "task_complete" && msg.type !== "turn_aborted") return { type: msg.type, conversation };
  // A turn that a crash left open is ended on resume; whether it is saved is not tested.
  if (msg.saved === undefined || typeof msg.turn_id !== "string") return { type: "closed_open_turn", conversation };
  return { type: msg.type, conversation, turn: msg.turn_id, saved: msg.saved, question };
}
