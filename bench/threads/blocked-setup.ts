// The `setup` module of the benchmark `blocked-shard`: models that stream, or block their thread, and a probe of its
// event loop, which reports when a message on the channel ends a period.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { BroadcastChannel, threadId } from "node:worker_threads";
import type { ModelEvent } from "../../src/messages/model.js";
import type { Provider } from "../../src/providers/provider.js";

const pauseMs = 10;
const resolutionMs = 1;
const nanosecondsPerMs = 1e6;

const channel = new BroadcastChannel("blocked-shard");
const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
histogram.enable();
channel.addEventListener("message", (message) => {
  const { data } = message as unknown as { readonly data: { readonly type: string; readonly period?: string } };
  if (data.type !== "end") return;
  const p99 = histogram.percentile(99) / nanosecondsPerMs - resolutionMs;
  const max = histogram.max / nanosecondsPerMs - resolutionMs;
  histogram.reset();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- between threads there is no origin
  channel.postMessage({ type: "delay", period: data.period, thread: threadId, p99, max });
});
channel.unref();

export const providers: readonly Provider[] = [
  { name: "streams", stream: (_request, signal) => words(signal) },
  { name: "blocks", stream: ({ model }) => block(Number(model)) },
];

async function* words(signal: AbortSignal): AsyncGenerator<ModelEvent> {
  while (!signal.aborted) {
    await setTimeout(pauseMs);
    yield { type: "text_delta", itemId: "answer", delta: "word " };
  }
}

async function* block(ms: number): AsyncGenerator<ModelEvent> {
  yield { type: "text_delta", itemId: "answer", delta: "blocking" };
  const until = performance.now() + ms;
  while (performance.now() < until);
  const content = [{ type: "output_text" as const, text: "done" }];
  yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
  yield { type: "done", finishReason: "stop" };
}
