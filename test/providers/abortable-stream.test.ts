import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../src/messages/model.js";
import { AbortableStream } from "../../src/providers/abortable-stream.js";

const delta: ModelEvent = { type: "text_delta", itemId: "item", delta: "a" };
const never = new Promise<never>(() => undefined);
const no = (): never => {
  throw new Error("no");
};
const broken = { type: "failed", failure: { code: "internal", message: "no", retryable: false } };

const next = async () => ({ done: false, value: delta });

/** A stream as JavaScript may write it, without a generator's manners. */
function written(iterator: AsyncIterator<ModelEvent>): () => AsyncIterable<ModelEvent> {
  return () => ({ [Symbol.asyncIterator]: () => iterator });
}

test("a stream that hangs, and will not end either, is left at once, with no listener behind", async () => {
  const controller = new AbortController();
  const stream = new AbortableStream(written({ next: () => never, return: () => never }), controller.signal);
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
  using stream = new AbortableStream(open, new AbortController().signal);
  expect(await stream.next()).toEqual(broken);
});

test("a stream that gives no result fails", async () => {
  using stream = new AbortableStream(written({ next: async () => undefined as never }), new AbortController().signal);
  expect(await stream.next()).toMatchObject({ type: "failed", failure: { code: "internal" } });
});

test("what is thrown when it is let go does not matter", async () => {
  for (const end of [no, async () => no()]) {
    using stream = new AbortableStream(written({ next, return: end }), new AbortController().signal);
    expect(await stream.next()).toEqual(delta);
  }
});

test("a stream that just ends was cut", async () => {
  using stream = new AbortableStream(
    written({ next: async () => ({ done: true, value: undefined }) }),
    new AbortController().signal,
  );
  expect(await stream.next()).toMatchObject({ type: "failed", failure: { code: "network", retryable: true } });
});

test("a stream that is always ready lets timers have their turn", async () => {
  const controller = new AbortController();
  using stream = new AbortableStream(written({ next }), controller.signal);
  setTimeout(() => controller.abort(), 1);
  let event: ModelEvent | "aborted" = delta;
  while (event !== "aborted") event = await stream.next();
  expect(event).toBe("aborted");
});
