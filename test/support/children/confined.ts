import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConversationManager } from "../../../src/manager.js";
import type { ModelEvent } from "../../../src/messages/model.js";
import type { Provider } from "../../../src/providers/provider.js";
import { sendReport } from "../../crash/report.js";

export interface ConfinedOrder {
  readonly home: string;
  readonly runtimeDirectory: string;
  readonly temporary: string;
  readonly workspace: string;
  readonly path: string;
  /** The conversations to continue. */
  readonly resume: readonly string[];
  /** The number of conversations to begin. */
  readonly create: number;
  readonly label: string;
  /** Part of the command line of every command. */
  readonly token: string;
  /** Without it, the process resumes, ends open turns and exits. */
  readonly dies: boolean;
}

const pollMs = 2;

// Runs a command in the sandbox in each of its conversations, and dies when all of them have had their effect and are
// still running.
const order = JSON.parse(process.argv[2] ?? "") as ConfinedOrder;
const effects = join(order.workspace, "effects");
let count = 0;
const provider: Provider = {
  name: "effects",
  async *stream(): AsyncGenerator<ModelEvent> {
    count += 1;
    const callId = `${order.label}_${count}`;
    const command = `echo ${callId} >> effects; (setsid sleep 1${order.token} &); sleep 2${order.token}`;
    const item = { type: "function_call" as const, name: "shell", arguments: JSON.stringify({ command }) };
    yield { type: "item", itemId: callId, item: { ...item, call_id: callId } };
    yield { type: "done", finishReason: "tool_calls" };
  },
};
const manager = new ConversationManager({
  home: order.home,
  cwd: order.workspace,
  env: { XDG_RUNTIME_DIR: order.runtimeDirectory, PATH: order.path, HOME: order.home, TMPDIR: order.temporary },
  providers: [provider],
});
const resumed = await Promise.all(order.resume.map((id) => manager.resumeConversation(id, { allowEmpty: true })));
const created = await Promise.all(
  Array.from({ length: order.create }, () => manager.newConversation({ provider: "effects", model: "effects" })),
);
const conversations = [...resumed, ...created.map(({ conversation }) => conversation)];
for (const { id } of conversations) sendReport({ type: "opened", conversation: id });
if (order.dies) {
  for (const conversation of conversations) await conversation.submit("do it");
  while (effectsOf(order.label) < conversations.length) await sleep(pollMs);
  process.kill(process.pid, "SIGKILL");
}
await manager.shutdown();

function effectsOf(label: string): number {
  try {
    return readFileSync(effects, "utf8").split(`${label}_`).length - 1;
  } catch {
    return 0;
  }
}
