import { ConversationManager } from "../../../src/manager.js";
import { effectProvider } from "../../crash/effect-provider.js";
import { sendReport } from "../../crash/report.js";

export interface ControlledOrder {
  readonly home: string;
  readonly runtimeDirectory: string;
  /** A file with one line for each effect, written by the effect itself. */
  readonly effects: string;
  /** The beginning of the ids of calls, another one for each process. */
  readonly label: string;
  /** The conversation to resume; a new one without it. */
  readonly conversation?: string;
}

// Opens a conversation that other processes talk to, until its stdin ends.
const order = JSON.parse(process.argv[2] ?? "") as ControlledOrder;
const manager = new ConversationManager({
  home: order.home,
  env: { XDG_RUNTIME_DIR: order.runtimeDirectory },
  cwd: order.home,
  control: true,
  idleAfter: Infinity,
  providers: [effectProvider(order.effects, order.label, () => false)],
});
const conversation =
  order.conversation === undefined
    ? (await manager.newConversation({ provider: "effects", model: "effects" })).conversation
    : await manager.resumeConversation(order.conversation, { allowEmpty: true });
sendReport({ type: "open", conversation: conversation.id });
process.stdin.resume();
await new Promise((resolve) => process.stdin.once("end", resolve));
await manager.shutdown();
