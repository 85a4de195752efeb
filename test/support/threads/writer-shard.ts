import { parentPort } from "node:worker_threads";
import { RolloutOutbox } from "../../../src/actors/rollout-writer/outbox.js";
import type { Rollout } from "../../../src/actors/rollout-writer/rollout.js";
import type { WriterListener } from "../../../src/actors/rollout-writer/writer-thread.js";
import type { LockOwner } from "../../../src/messages/actors/rollout-writer.js";
import { plainEncoder } from "../redaction.js";
import { said } from "../said.js";
import type { ShardCall, ShardMessage } from "../writer-shard.js";

// A thread with a client of the writer, as a shard has. It does what the test asks and posts the outcomes.
let owner: LockOwner | undefined;
let listener: WriterListener | undefined;
const rollouts = new Map<string, Rollout>();
const outbox = new RolloutOutbox({
  owner: async () => {
    if (owner === undefined) throw new Error("the shard has no owner yet");
    return owner;
  },
  writer: {
    connect: (given) => {
      listener = given;
      return () => (listener = undefined);
    },
  },
});
outbox.start();

parentPort?.on("message", (message: ShardMessage) => {
  if (message.type === "port") listener?.onPort(message.port);
  else if (message.type === "failed") listener?.onFailed(message.reason);
  else if (message.type === "owner") owner = message.owner;
  else void perform(message.call).then((outcome) => parentPort?.postMessage({ id: message.id, outcome }, []));
});

async function perform(call: ShardCall): Promise<unknown> {
  const rollout = rollouts.get(call.conversationId);
  if (call.type === "open") {
    const { conversationId, path, mode } = call;
    const opened = await outbox.open({ conversationId, path, mode, encode: plainEncoder });
    rollouts.set(conversationId, opened.rollout);
    return opened.outcome;
  }
  if (call.type === "flush") return await rollout?.flush();
  if (call.type === "close") return await rollout?.close();
  if (call.type === "append") for (const text of call.texts) rollout?.append(said(text));
  else await outbox.stop();
  return undefined;
}
