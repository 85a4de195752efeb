import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../src/messages/model.js";
import { ModelStreamReader } from "../../src/providers/model-stream-reader.js";

const never = new Promise<never>(() => undefined);
const no = (): never => {
  throw new Error("no");
};
const broken = { type: "failed", failure: { code: "unknown", message: "no", retryable: false } };

const done: ModelEvent = { type: "done", finishReason: "stop" };
const next = async () => ({ done: false, value: done });
const unheard = (): void => undefined;

const maxBytes = 1_000;

/** A stream as JavaScript may write it, without a generator's manners. */
function written(iterator: AsyncIterator<ModelEvent>): () => AsyncIterable<ModelEvent> {
  return () => ({ [Symbol.asyncIterator]: () => iterator });
}

test("a stream that hangs, and will not end either, is left at once, with no listener behind", async () => {
  const controller = new AbortController();
  const stream = new ModelStreamReader(written({ next: () => never, return: () => never }), unheard, {
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
  ["being opened", no],
  ["being asked", written({ next: no })],
  ["the answer", written({ next: async () => no() })],
])("what is thrown in %s is a failure", async (_name, open) => {
  using stream = new ModelStreamReader(open, unheard, { signal: new AbortController().signal, maxBytes });
  expect(await stream.next()).toEqual(broken);
});

test("a stream that gives no result fails", async () => {
  using stream = new ModelStreamReader(written({ next: async () => undefined as never }), unheard, {
    signal: new AbortController().signal,
    maxBytes,
  });
  expect(await stream.next()).toMatchObject({ type: "failed", failure: { code: "unknown" } });
});

test("what is thrown when it is let go does not matter", async () => {
  for (const end of [no, async () => no()]) {
    using stream = new ModelStreamReader(written({ next, return: end }), unheard, {
      signal: new AbortController().signal,
      maxBytes,
    });
    expect(await stream.next()).toEqual(done);
  }
});

test("a stream that just ends was cut", async () => {
  using stream = new ModelStreamReader(written({ next: async () => ({ done: true, value: undefined }) }), unheard, {
    signal: new AbortController().signal,
    maxBytes,
  });
  expect(await stream.next()).toMatchObject({ type: "failed", failure: { code: "network", retryable: true } });
});
