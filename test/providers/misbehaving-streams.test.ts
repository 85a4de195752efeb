import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../src/messages/model.js";
import { ModelStreamReader } from "../../src/providers/model-stream-reader.js";

const pending = new Promise<never>(() => undefined);
const throwError = (): never => {
  throw new Error("no");
};
const unknownFailure = { type: "failed", failure: { code: "unknown", message: "no", retryable: false } };

const done: ModelEvent = { type: "done", finishReason: "stop" };
const next = async () => ({ done: false, value: done });
const ignoreDelta = (): void => undefined;

const maxBytes = 1_000;

/** A hand-written iterator, which gives none of the guarantees of a generator. */
function streamOf(iterator: AsyncIterator<ModelEvent>): () => AsyncIterable<ModelEvent> {
  return () => ({ [Symbol.asyncIterator]: () => iterator });
}

test("an abort abandons a stream whose next() and return() both hang, and leaves no listener", async () => {
  const controller = new AbortController();
  const stream = new ModelStreamReader(streamOf({ next: () => pending, return: () => pending }), ignoreDelta, {
    signal: controller.signal,
    maxBytes,
  });
  const waiting = stream.next();
  controller.abort();
  expect(await waiting).toBe("aborted");
  expect(await stream.next()).toBe("aborted");
  stream[Symbol.dispose]();
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test.each<[string, () => AsyncIterable<ModelEvent>]>([
  ["opening the stream", throwError],
  ["next(), synchronously", streamOf({ next: throwError })],
  ["next(), asynchronously", streamOf({ next: async () => throwError() })],
])("an error thrown in %s is a failure", async (_name, open) => {
  using stream = new ModelStreamReader(open, ignoreDelta, { signal: new AbortController().signal, maxBytes });
  expect(await stream.next()).toEqual(unknownFailure);
});

test("a stream whose next() resolves to undefined fails", async () => {
  using stream = new ModelStreamReader(streamOf({ next: async () => undefined as never }), ignoreDelta, {
    signal: new AbortController().signal,
    maxBytes,
  });
  expect(await stream.next()).toMatchObject({ type: "failed", failure: { code: "unknown" } });
});

test("errors thrown by return() are ignored", async () => {
  for (const end of [throwError, async () => throwError()]) {
    using stream = new ModelStreamReader(streamOf({ next, return: end }), ignoreDelta, {
      signal: new AbortController().signal,
      maxBytes,
    });
    expect(await stream.next()).toEqual(done);
  }
});

test("a stream that ends without a last event is a retryable network failure", async () => {
  using stream = new ModelStreamReader(
    streamOf({ next: async () => ({ done: true, value: undefined }) }),
    ignoreDelta,
    {
      signal: new AbortController().signal,
      maxBytes,
    },
  );
  expect(await stream.next()).toMatchObject({ type: "failed", failure: { code: "network", retryable: true } });
});
