import { createInterface } from "node:readline";
import { ConversationManager } from "../../../src/manager.js";
import { sendReport } from "../../crash/report.js";

export interface AskerOrder {
  readonly home: string;
  readonly codexHome: string;
  /** The URL of the server that issues tokens and answers as the model. */
  readonly issuer: string;
  readonly conversations: number;
  readonly nowMs: number;
}

/** A message to an asker: ask in each of its conversations, at this time. */
export interface AskerMessage {
  readonly round: number;
  readonly nowMs: number;
}

// Asks a model that requires the token of a login, whenever the test tells it to.
const order = JSON.parse(process.argv[2] ?? "") as AskerOrder;
let { nowMs } = order;
const manager = new ConversationManager({
  home: order.home,
  cwd: order.home,
  env: { CODEX_HOME: order.codexHome },
  config: {
    auth: "chatgpt-oauth",
    logins: { chatgpt: { issuer: order.issuer } },
    providers: { openai: { baseUrl: `${order.issuer}/backend-api/codex` } },
    persistence: { enabled: false },
  },
  retry: { maxRetries: 0, baseDelayMs: 1, maxDelayMs: 1 },
  now: () => new Date(nowMs),
});
const opened = await Promise.all(Array.from({ length: order.conversations }, () => manager.newConversation()));
sendReport({ type: "ready" });
for await (const line of createInterface({ input: process.stdin })) {
  const word = JSON.parse(line) as AskerMessage;
  nowMs = word.nowMs;
  void ask(word.round);
}
await manager.shutdown();

async function ask(round: number): Promise<void> {
  try {
    await Promise.all(opened.map(({ conversation }) => conversation.processMessage("Hi")));
    sendReport({ type: "answered", round });
  } catch (error) {
    sendReport({ type: "refused", round, message: (error as Error).message });
  }
}
