import { once } from "node:events";
import { BroadcastChannel, threadId } from "node:worker_threads";
import { serveJobs } from "../../../src/workers/jobs.js";
import { type FaultyJobs, nested } from "../faulty-jobs.js";
import { FailureError } from "../../../src/messages/failure-error.js";

function began(name: string): BroadcastChannel {
  const channel = new BroadcastChannel(name);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- between threads there is no origin
  channel.postMessage("began");
  return channel;
}

function isRelease(event: object): boolean {
  return "data" in event && event.data === "go on";
}

export default serveJobs<FaultyJobs>({
  echo: (input) => input,
  thread: () => threadId,
  environment: () => ({ env: { ...process.env }, execArgv: process.execArgv }),
  throw: (message) => {
    throw Object.assign(new Error(message), { code: "EODD" });
  },
  fail: (message) => {
    throw new FailureError({ code: "rate_limit", message, retryable: true, retryAfterMs: 7 });
  },
  exit: (code) => process.exit(code),
  uncaught: async (message) => {
    setImmediate(() => {
      throw new Error(message);
    });
    return await new Promise<never>(() => undefined);
  },
  spin: ({ channel }) => {
    began(channel);
    for (;;);
  },
  out_of_memory: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 1_000 }, (_, index) => ({ index })));
  },
  buffers: ({ bytes, times }) => {
    const kept = Array.from({ length: times }, () => Buffer.alloc(bytes.byteLength, 1));
    return kept.reduce((sum, { byteLength }) => sum + byteLength, 0);
  },
  unclonable: () => () => undefined,
  deep: (levels) => nested(levels),
  hold: async ({ channel, stubborn }, signal) => {
    began(channel).close();
    await once(signal, "abort");
    if (stubborn) await new Promise<never>(() => setInterval(() => undefined, 1_000));
    return "cancelled";
  },
  wait: async ({ channel }) => {
    const door = began(channel);
    await new Promise<void>((resolve) => {
      // Messages of other jobs on this channel arrive too.
      door.addEventListener("message", (event) => (isRelease(event) ? resolve() : undefined));
    });
    door.close();
    return threadId;
  },
});
