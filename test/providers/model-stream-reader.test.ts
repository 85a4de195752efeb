import { expect, test } from "vitest";
import { type Delta, ModelStreamReader } from "../../src/providers/model-stream-reader.js";
import type { ModelEvent } from "../../src/messages/model.js";
import { endOfStream, ReadyStream } from "../../src/providers/transport/transport.js";

const text = (delta: string): Delta => ({ type: "text_delta", itemId: "a", delta });
const done: ModelEvent = { type: "done", finishReason: "stop" };

/** A stream that has what the test puts into it. */
class PutStream extends ReadyStream<ModelEvent> {
  readonly #events: (ModelEvent | null)[] = [];
  #waiting: (() => void) | undefined;

  put(...events: (ModelEvent | null)[]): void {
    this.#events.push(...events);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  take(): ModelEvent | null | undefined {
    return this.#events.shift();
  }

  onReady(callback: () => void): void {
    this.#waiting = callback;
  }

  return(): Promise<IteratorResult<ModelEvent, undefined>> {
    return Promise.resolve(endOfStream);
  }
}

async function* many(): AsyncGenerator<ModelEvent> {
  for (let count = 0; count < 1_000; count += 1) yield text("x");
  yield done;
}

async function* broken(): AsyncGenerator<ModelEvent> {
  yield text("1");
  throw new Error("out of order");
}

function hear(stream: AsyncIterable<ModelEvent>, onDelta?: (delta: Delta) => void, maxBytes = 10_000) {
  const heard: string[] = [];
  const abort = new AbortController();
  const answer = new ModelStreamReader(() => stream, onDelta ?? (({ delta }) => heard.push(delta)), {
    signal: abort.signal,
    maxBytes,
  });
  return { heard, abort, answer };
}

test("deltas are told at once when they come, and what is no delta to whoever waits", async () => {
  const stream = new PutStream();
  const { heard, answer } = hear(stream);
  const next = answer.next();
  stream.put(text("1"));
  expect(heard).toEqual(["1"]);
  stream.put(text("2"), text("3"), done, text("4"));
  expect(heard).toEqual(["1", "2", "3"]);
  expect(await next).toEqual(done);
  const last = answer.next();
  expect(heard).toEqual(["1", "2", "3", "4"]);
  stream.put(null);
  expect(await last).toMatchObject({ type: "failed", failure: { code: "network" } });
});

test("nothing is told after an abort, which does not wait for the stream", async () => {
  const stream = new PutStream();
  const { heard, abort, answer } = hear(stream);
  const next = answer.next();
  stream.put(text("1"));
  abort.abort();
  stream.put(text("2"), done);
  expect(await next).toBe("aborted");
  expect(await answer.next()).toBe("aborted");
  expect(heard).toEqual(["1"]);
});

test("what is thrown where a delta is told reaches whoever waits", async () => {
  const stream = new PutStream();
  const { answer } = hear(stream, () => {
    throw new Error("cannot publish");
  });
  const next = answer.next();
  stream.put(text("1"));
  await expect(next).rejects.toThrow("cannot publish");
});

test("many deltas that are ready are all told, with a pause for the event loop", async () => {
  let paused = false;
  setImmediate(() => (paused = true));
  const { heard, answer } = hear(many());
  expect(await answer.next()).toEqual(done);
  expect([heard.length, paused]).toEqual([1_000, true]);
});

test("a stream that throws has failed", async () => {
  const { heard, answer } = hear(broken());
  expect(await answer.next()).toMatchObject({ type: "failed", failure: { code: "unknown", message: "out of order" } });
  expect(heard).toEqual(["1"]);
});

const item = (value: string): ModelEvent => ({
  type: "item",
  itemId: "a",
  item: { type: "message", role: "assistant", content: [{ type: "output_text", text: value }] },
});

test("an answer is stopped before the delta that exceeds its bytes, which are counted in UTF-8", async () => {
  const stream = new PutStream();
  stream.put(text("12345"), text("東"), text("ü"), text("9"));
  const { heard, answer } = hear(stream, undefined, 9);
  expect(await answer.next()).toBe("too_long");
  expect(heard).toEqual(["12345", "東"]);
  expect(answer.bytes).toBe(10);
});

test("what is buffered counts like a delta, and shows nothing", async () => {
  const stream = new PutStream();
  stream.put({ type: "buffered", bytes: 6 }, text("123"), { type: "buffered", bytes: 1 });
  const { heard, answer } = hear(stream, undefined, 9);
  expect(await answer.next()).toBe("too_long");
  expect(heard).toEqual(["123"]);
});

test("an item repeats its deltas, so that both together may have twice the bytes", async () => {
  const stream = new PutStream();
  const long = "x".repeat(1_000);
  stream.put(text(long), item(long), item("y"), done);
  const { answer } = hear(stream, undefined, 1_700);
  expect(await answer.next()).toEqual(item(long));
  expect(await answer.next()).toBe("too_long");
});

async function* endless(): AsyncGenerator<ModelEvent> {
  for (;;) yield item("");
}

test("an endless stream of items that have nothing in them is stopped", async () => {
  const { answer } = hear(endless());
  let count = 0;
  while ((await answer.next()) !== "too_long") count += 1;
  answer[Symbol.dispose]();
  expect(count).toBe(16);
});

test("an item that is no JSON fails the answer", async () => {
  const { answer } = hear(
    (async function* (): AsyncGenerator<ModelEvent> {
      yield { type: "item", itemId: "a", item: { type: "tool_search_call", arguments: 1n } };
    })(),
  );
  expect(await answer.next()).toMatchObject({ type: "failed", failure: { code: "unknown" } });
});

test("the stream is read on when there is room for more deltas, or not at all after an abort", async () => {
  const stream = new PutStream();
  const rooms: (() => void)[] = [];
  const heard: string[] = [];
  const abort = new AbortController();
  const room = (): Promise<void> => new Promise((resolve) => rooms.push(resolve));
  using answer = new ModelStreamReader(
    () => stream,
    ({ delta }) => heard.push(delta),
    { signal: abort.signal, maxBytes: 100, room },
  );
  const next = answer.next();
  stream.put(text("1"), text("2"), text("3"));
  expect(heard).toEqual(["1"]);
  rooms.shift()?.();
  await Promise.resolve();
  expect(heard).toEqual(["1", "2"]);
  abort.abort();
  expect(await next).toBe("aborted");
  rooms.shift()?.();
  await Promise.resolve();
  expect(heard).toEqual(["1", "2"]);
});
