import { expect, test } from "vitest";
import { type Delta, HeardAnswer } from "../../src/providers/heard-answer.js";
import type { ModelEvent } from "../../src/messages/model.js";
import { ended, ReadyStream } from "../../src/providers/ready-stream.js";

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
    return Promise.resolve(ended);
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

function hear(stream: AsyncIterable<ModelEvent>, onDelta?: (delta: Delta) => void) {
  const heard: string[] = [];
  const abort = new AbortController();
  const answer = new HeardAnswer(() => stream, onDelta ?? (({ delta }) => heard.push(delta)), abort.signal);
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
