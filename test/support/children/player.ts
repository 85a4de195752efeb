import { ConversationManager } from "../../../src/manager.js";
import { playTurns } from "../../crash/play-turns.js";
import type { AnswerLengths } from "../../crash/question.js";
import { Random } from "../../crash/random.js";
import { sendReport } from "../../crash/report.js";
import { variedProvider } from "../../crash/varied-provider.js";

/** The job of a player, passed as its only argument. */
export interface PlayerOrder {
  readonly home: string;
  readonly runtimeDirectory: string;
  readonly resume: readonly string[];
  readonly create: number;
  readonly label: string;
  readonly answers: AnswerLengths;
  readonly seed: number;
}

// Plays turns on several conversations at once, until it is killed.
const order = JSON.parse(process.argv[2] ?? "") as PlayerOrder;
const manager = new ConversationManager({
  home: order.home,
  cwd: order.home,
  env: { XDG_RUNTIME_DIR: order.runtimeDirectory },
  providers: [variedProvider],
});
sendReport({ type: "ready" });
await Promise.all([
  ...order.resume.map((id, index) => resumeAndPlay(id, new Random(order.seed + index))),
  ...Array.from({ length: order.create }, (_, index) => createAndPlay(new Random(order.seed - 1 - index))),
]);

async function resumeAndPlay(conversation: string, random: Random): Promise<void> {
  sendReport({ type: "resuming", conversation });
  const resumed = await manager.resumeConversation(conversation);
  sendReport({ type: "resumed", conversation });
  await playTurns(resumed, { ...order, random });
}

async function createAndPlay(random: Random): Promise<void> {
  const created = await manager.newConversation({ provider: variedProvider.name, model: "varied" });
  sendReport({ type: "created", conversation: created.conversationId });
  await playTurns(created.conversation, { ...order, random });
}
