// Providers for the threads of conversations that are played by the test's own providers, which `serveProviders` of
// open-conversation.ts reaches through the same channel.
import { randomUUID } from "node:crypto";
import { BroadcastChannel } from "node:worker_threads";

/** Returns providers with these names; each asks the test for the next event of its stream. */
export function remoteProviders(channelName, names) {
  const channel = new BroadcastChannel(channelName);
  channel.unref();
  const waiting = new Map();
  channel.addEventListener("message", ({ data: { id, outcome } }) => {
    const settle = waiting.get(id);
    waiting.delete(id);
    settle?.(outcome);
  });

  async function* stream(name, request, signal) {
    const id = randomUUID();
    const ask = (message) =>
      new Promise((resolve) => {
        waiting.set(id, resolve);
        channel.postMessage({ id, ...message }, []);
      });
    const abort = () => channel.postMessage({ id, type: "abort" }, []);
    if (signal.aborted) return;
    signal.addEventListener("abort", abort, { once: true });
    let message = { type: "open", name, request };
    try {
      for (;;) {
        const { error, done, value } = await ask(message);
        if (error !== undefined) throw new Error(error);
        if (done) return;
        yield value;
        message = { type: "next" };
      }
    } finally {
      signal.removeEventListener("abort", abort);
      channel.postMessage({ id, type: "return" }, []);
    }
  }

  return names.map((name) => ({ name, stream: (request, signal) => stream(name, request, signal) }));
}
