import { expect, test } from "vitest";
import { type Delta, ModelStreamReader } from "../../src/providers/model-stream-reader.js";
import type { ModelEvent } from "../../src/messages/model.js";
import { endOfStream, ReadyStream } from "../../src/providers/transport/transport.js";

const text = (delta: string): Delta => ({ type: "text_delta", itemId: "a", delta });
const done: ModelEvent = { type: "done", finishReason: "stop" };

/** A stream of the events that the test pushes into it. */
class PushStream extends ReadyStream<ModelEvent> {
  readonly #events: (ModelEvent | null)[] = [];
  #waiting: (() => void) | undefined;

  push(...events: (ModelEvent | null)[]): void {
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

async function* failing(): AsyncGenerator<ModelEvent> {
  yield text("1");
  throw new Error("out of order");
}

function openReader(stream: AsyncIterable<ModelEvent>, onDelta?: (delta: Delta) => void, maxBytes = 10_000) {
  const deltas: string[] = [];
  const abort = new AbortController();
  const reader = new ModelStreamReader(() => stream, onDelta ?? (({ delta }) => deltas.push(delta)), {
    signal: abort.signal,
    maxBytes,
  });
  return { deltas, abort, reader };
}

test("deltas are reported as they arrive, and every other event resolves next()", async () => {
  const stream = new PushStream();
  const { deltas, reader } = openReader(stream);
  const next = reader.next();
  stream.push(text("1"));
  expect(deltas).toEqual(["1"]);
  stream.push(text("2"), text("3"), done, text("4"));
  expect(deltas).toEqual(["1", "2", "3"]);
  expect(await next).toEqual(done);
  const last = reader.next();
  expect(deltas).toEqual(["1", "2", "3", "4"]);
  stream.push(null);
  expect(await last).toMatchObject({ type: "failed", failure: { code: "network" } });
});

test("an abort resolves next() at once, and no delta is reported after it", async () => {
  const stream = new PushStream();
  const { deltas, abort, reader } = openReader(stream);
  const next = reader.next();
  stream.push(text("1"));
  abort.abort();
  stream.push(text("2"), done);
  expect(await next).toBe("aborted");
  expect(await reader.next()).toBe("aborted");
  expect(deltas).toEqual(["1"]);
});

test("an error thrown by the delta callback rejects next()", async () => {
  const stream = new PushStream();
  const { reader } = openReader(stream, () => {
    throw new Error("cannot publish");
  });
  const next = reader.next();
  stream.push(text("1"));
  await expect(next).rejects.toThrow("cannot publish");
});

test("a long run of ready deltas yields to the event loop", async () => {
  let paused = false;
  setImmediate(() => (paused = true));
  const { deltas, reader } = openReader(many());
  expect(await reader.next()).toEqual(done);
  expect([deltas.length, paused]).toEqual([1_000, true]);
});

test("an error thrown by the stream becomes a failed event", async () => {
  const { deltas, reader } = openReader(failing());
  expect(await reader.next()).toMatchObject({ type: "failed", failure: { code: "unknown", message: "out of order" } });
  expect(deltas).toEqual(["1"]);
});

const item = (value: string): ModelEvent => ({
  type: "item",
  itemId: "a",
  item: { type: "message", role: "assistant", content: [{ type: "output_text", text: value }] },
});

test("reading stops before the delta that exceeds maxBytes, counted in UTF-8", async () => {
  const stream = new PushStream();
  stream.push(text("12345"), text("東"), text("ü"), text("9"));
  const { deltas, reader } = openReader(stream, undefined, 9);
  expect(await reader.next()).toBe("too_long");
  expect(deltas).toEqual(["12345", "東"]);
  expect(reader.bytes).toBe(10);
});

test("buffered bytes count towards maxBytes and report no delta", async () => {
  const stream = new PushStream();
  stream.push({ type: "buffered", bytes: 6 }, text("123"), { type: "buffered", bytes: 1 });
  const { deltas, reader } = openReader(stream, undefined, 9);
  expect(await reader.next()).toBe("too_long");
  expect(deltas).toEqual(["123"]);
});

test("deltas and the item that repeats them may together have twice maxBytes", async () => {
  const stream = new PushStream();
  const long = "x".repeat(1_000);
  stream.push(text(long), item(long), item("y"), done);
  const { reader } = openReader(stream, undefined, 1_700);
  expect(await reader.next()).toEqual(item(long));
  expect(await reader.next()).toBe("too_long");
});

async function* endless(): AsyncGenerator<ModelEvent> {
  for (;;) yield item("");
}

test("an endless stream of empty items is stopped", async () => {
  const { reader } = openReader(endless());
  let count = 0;
  while ((await reader.next()) !== "too_long") count += 1;
  reader[Symbol.dispose]();
  expect(count).toBe(16);
});

test("an item that cannot be written as JSON fails the answer", async () => {
  const { reader } = openReader(
    (async function* (): AsyncGenerator<ModelEvent> {
      yield { type: "item", itemId: "a", item: { type: "tool_search_call", arguments: 1n } };
    })(),
  );
  expect(await reader.next()).toMatchObject({ type: "failed", failure: { code: "unknown" } });
});

test("reading waits for room for the next delta and stops after an abort", async () => {
  const stream = new PushStream();
  const rooms: (() => void)[] = [];
  const deltas: string[] = [];
  const abort = new AbortController();
  const room = (): Promise<void> => new Promise((resolve) => rooms.push(resolve));
  using reader = new ModelStreamReader(
    () => stream,
    ({ delta }) => deltas.push(delta),
    { signal: abort.signal, maxBytes: 100, room },
  );
  const next = reader.next();
  stream.push(text("1"), text("2"), text("3"));
  expect(deltas).toEqual(["1"]);
  rooms.shift()?.();
  await Promise.resolve();
  expect(deltas).toEqual(["1", "2"]);
  abort.abort();
  expect(await next).toBe("aborted");
  rooms.shift()?.();
  await Promise.resolve();
  expect(deltas).toEqual(["1", "2"]);
});
