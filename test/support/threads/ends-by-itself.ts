import { spawnThread } from "../../../src/actors/runtime/spawn-thread.js";
import type { ProbeAnswers, ProbeEvent, ProbeOp, ProbeOptions } from "../probe-actor.js";

// A process whose last work is in a thread: it must wait for that work, and for nothing else.
const ref = spawnThread<ProbeOp, ProbeAnswers, ProbeOptions, ProbeEvent>(new URL("probe.js", import.meta.url), {});

const work = process.argv[2] ?? "";
switch (work) {
  case "idle":
    console.log(await ref.ask({ type: "echo", value: "answered" }));
    break;
  case "pending_ask":
    console.log(await ref.ask({ type: "answer_later", afterMs: 50 }));
    break;
  case "pending_tell":
    console.log(await ref.tell({ type: "note", value: 1 }));
    break;
  case "restarting":
    await ref.tell({ type: "thread_fault", how: "exit" }).catch(() => undefined);
    await ref.ask({ type: "answer_later", afterMs: 50 }).catch(() => undefined);
    console.log(await ref.ask({ type: "echo", value: "answered by the next thread" }));
    break;
  case "stopped":
    await ref.stop();
    console.log("stopped");
    break;
  case "never_used":
    console.log("done");
    break;
  default:
    throw new Error(`unknown case ${work}`);
}
