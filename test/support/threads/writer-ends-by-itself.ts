import { join } from "node:path";
import { RolloutOutbox } from "../../../src/actors/rollout-writer/outbox.js";
import { openOwnerSocket } from "../../../src/actors/rollout-writer/rollout-locks.js";
import { WriterThread } from "../../../src/actors/rollout-writer/writer-thread.js";
import { plainEncoder } from "../redaction.js";
import { said } from "../said.js";

// A process whose last work is in the writer's thread: it must wait for that work, and for nothing else.
const [, , work = "", directory = ""] = process.argv;
const request = {
  conversationId: "a",
  path: join(directory, "a.jsonl"),
  mode: "create" as const,
  encode: plainEncoder,
};
const outbox = new RolloutOutbox({
  writer: new WriterThread(() => new URL("faulty-writer.js", import.meta.url)),
  owner: async () => (await openOwnerSocket(directory)).owner,
});

switch (work) {
  case "idle": {
    const { rollout } = await outbox.open(request);
    rollout.append(said("one"));
    console.log((await rollout.flush()).status);
    break;
  }
  case "pending_append": {
    const { rollout } = await outbox.open(request);
    rollout.append(said("one"));
    console.log("appended");
    break;
  }
  case "replaced": {
    const { rollout } = await outbox.open(request);
    rollout.append(said("(fault exit 1)"));
    console.log((await rollout.flush()).status);
    break;
  }
  case "stopped":
    await outbox.open(request);
    await outbox.stop();
    console.log("stopped");
    break;
  case "never_used":
    outbox.start();
    console.log("done");
    break;
  default:
    throw new Error(`unknown case ${work}`);
}
