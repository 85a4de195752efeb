import { createInterface } from "node:readline";
import { ConversationManager } from "../../../src/manager.js";
import { playTurns } from "../../crash/play-turns.js";
import { Random } from "../../crash/random.js";
import { sendReport } from "../../crash/report.js";
import { variedProvider } from "../../crash/varied-provider.js";

export interface ContenderOrder {
  readonly home: string;
  readonly runtimeDirectory: string;
  readonly conversation: string;
  readonly seed: number;
  /** How many turns it plays as the owner of the conversation; unlimited by default. */
  readonly turns?: number;
}

/** A message to a contender: try to open the conversation, or show that it is awake. */
export type ContenderMessage = { readonly type: "go"; readonly round: number } | { readonly type: "ping" };

// Short answers, because every contender reads the whole file at every try.
const answers = { shortest: 20, longest: 5_000 };

// Tries to open one conversation whenever the test tells it to, and plays turns once it owns it.
const {
  home,
  runtimeDirectory,
  conversation,
  seed,
  turns = Infinity,
} = JSON.parse(process.argv[2] ?? "") as ContenderOrder;
const manager = new ConversationManager({
  home,
  cwd: home,
  env: { XDG_RUNTIME_DIR: runtimeDirectory },
  providers: [variedProvider],
});
sendReport({ type: "ready" });
for await (const line of createInterface({ input: process.stdin })) {
  const word = JSON.parse(line) as ContenderMessage;
  if (word.type === "ping") sendReport({ type: "pong" });
  else void contend(word.round);
}
await manager.shutdown();

async function contend(round: number): Promise<void> {
  const owned = await manager.resumeConversation(conversation).catch((error: Error) => error.message);
  if (typeof owned === "string") return sendReport({ type: "refused", round, message: owned });
  sendReport({ type: "owner", round });
  await playTurns(owned, {
    label: `pid ${process.pid} round ${round}`,
    random: new Random(seed + round),
    turns,
    answers,
  });
}
