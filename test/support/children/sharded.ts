import { createInterface } from "node:readline";
import { ConversationManager } from "../../../src/manager.js";
import { sendReport } from "../../crash/report.js";

export interface ShardedOrder {
  readonly home: string;
  readonly runtimeDirectory: string;
  /** The URL of the module with the model. */
  readonly setup: string;
}

// Plays turns in one thread while a turn hangs in another. Each line on stdin is answered with the names of the threads.
const { home, runtimeDirectory, setup } = JSON.parse(process.argv[2] ?? "") as ShardedOrder;
const manager = new ConversationManager({
  home,
  cwd: home,
  env: { XDG_RUNTIME_DIR: runtimeDirectory },
  threads: 2,
  setup: new URL(setup),
});
const config = { provider: "unruly", model: "unruly" };
const { conversation: hanging } = await manager.newConversation(config);
const { conversation: playing } = await manager.newConversation(config);
await hanging.submit("hang");
void play();
for await (const line of createInterface({ input: process.stdin })) {
  const { shards } = await manager.stats();
  const { turnId = "none" } = hanging.openTurn ?? {};
  sendReport({ type: "threads", round: Number(line), message: shards.map(({ name }) => name).join(), turn: turnId });
}
await manager.shutdown();

async function play(): Promise<void> {
  for (let round = 1; ; round += 1) {
    await playing.processMessage(`say ${round}`);
    sendReport({ type: "played", round });
  }
}
