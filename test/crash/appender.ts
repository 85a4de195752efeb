import { RolloutRecorder } from "../../src/actors/rollout-writer/recorder.js";
import { turnOf } from "./appended-turns.js";
import { type AnswerLengths, newQuestion } from "./question.js";
import { Random } from "./random.js";
import { sendReport } from "./report.js";

/** The job of an appender, passed as its only argument. */
export interface AppenderOrder {
  readonly directory: string;
  readonly runtimeDirectory: string;
  readonly conversations: readonly string[];
  readonly round: number;
  readonly answers: AnswerLengths;
  /** How many unacknowledged turns each conversation may have. */
  readonly inFlight: number;
  readonly seed: number;
}

// Appends turn after turn to several conversations, as fast as they are acknowledged, until it is killed.
const order = JSON.parse(process.argv[2] ?? "") as AppenderOrder;
const recorder = new RolloutRecorder(order.directory, { env: { XDG_RUNTIME_DIR: order.runtimeDirectory } });
const random = new Random(order.seed);
for (const conversation of order.conversations) {
  let turns = 0;
  const nextQuestion = (): string => {
    turns += 1;
    return newQuestion(`round ${order.round} turn ${turns}`, random, order.answers);
  };
  for (let index = 0; index < order.inFlight; index += 1) void appendForEver(conversation, nextQuestion);
}
sendReport({ type: "opening" });

async function appendForEver(conversation: string, nextQuestion: () => string): Promise<never> {
  for (;;) {
    const question = nextQuestion();
    await recorder.appendTurn(conversation, turnOf(question));
    sendReport({ type: "saved", conversation, question });
  }
}
