import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  EventQueue,
  type EventQueueOptions,
  type EventReader,
  type EventRuns,
  type EventSource,
  sharedReader,
} from "../../../src/actors/runtime/event-queue.js";

type Numbered =
  | { seq: number; kind: "item" }
  | { seq: number; kind: "delta"; from: number }
  | { seq: number; kind: "lagged"; from: number };

const item = (seq: number): Numbered => ({ seq, kind: "item" });
const delta = (seq: number): Numbered => ({ seq, kind: "delta", from: seq });

function queueOf({
  onLagged = () => [],
  ...options
}: EventQueueOptions<Numbered> & Pick<EventSource<Numbered>, "onLagged"> = {}): EventQueue<Numbered> {
  return new EventQueue<Numbered>(
    {
      merge: (older, newer) =>
        older.kind === "delta" && newer.kind === "delta" ? { ...newer, from: older.from } : undefined,
      ...options,
    },
    { lagged: (from, to) => ({ seq: to, kind: "lagged", from }), onLagged },
  );
}

interface Piece {
  readonly seq: number;
  readonly text: string;
}

async function readAll<E>(reader: AsyncIterable<E>): Promise<E[]> {
  const events: E[] = [];
  for await (const event of reader) events.push(event);
  return events;
}

/** The sequence numbers an event covers. */
function covered(event: Numbered): number[] {
  const from = event.kind === "item" ? event.seq : event.from;
  return Array.from({ length: event.seq - from + 1 }, (_, index) => from + index);
}

describe("an event queue", () => {
  test("delivers every event to every reader, in order", async () => {
    const queue = queueOf();
    const readers = [queue.reader(), queue.reader()];
    for (let seq = 1; seq <= 100; seq += 1) queue.publish(item(seq));
    queue.close();
    const expected = Array.from({ length: 100 }, (_, index) => item(index + 1));
    expect(await Promise.all(readers.map(readAll))).toEqual([expected, expected]);
  });

  test("resolves waiting next calls in order", async () => {
    const queue = queueOf();
    const reader = queue.reader();
    const calls = [reader.next(), reader.next(), reader.next()];
    for (const seq of [1, 2]) queue.publish(item(seq));
    queue.close();
    expect(await Promise.all(calls)).toEqual([
      { done: false, value: item(1) },
      { done: false, value: item(2) },
      { done: true, value: undefined },
    ]);
  });

  test("a lossless reader misses nothing, and signals when it has room", async () => {
    const queue = queueOf({ bound: 4 });
    const reader = queue.reader({ since: 1 });
    reader.setLossless(true);
    for (let seq = 1; seq <= 2; seq += 1) queue.publish(item(seq));
    expect(queue.room()).toBeUndefined();
    for (let seq = 3; seq <= 10; seq += 1) queue.publish(item(seq));
    let hasRoom = false;
    const room = queue.room()?.then(() => (hasRoom = true));
    for (let seq = 1; seq <= 7; seq += 1) expect((await reader.next()).value).toEqual(item(seq));
    expect(hasRoom).toBe(false);
    await reader.next();
    await room;
    queue.close();
    expect(await readAll(reader)).toEqual([item(9), item(10)]);
  });

  test("a reader that starts at a released event lags at once, and one that starts after it does not", async () => {
    const queue = queueOf();
    for (let seq = 1; seq <= 3; seq += 1) queue.publish(item(seq));
    queue.release();
    const [behind, current] = [queue.reader({ since: 2 }), queue.reader({ since: 4 })];
    expect((await behind.next()).value).toEqual({ seq: 3, kind: "lagged", from: 2 });
    queue.publish(item(4));
    queue.close();
    expect(await Promise.all([behind, current].map(readAll))).toEqual([[item(4)], [item(4)]]);
  });

  test("publishers do not wait for a lossless reader that has returned", async () => {
    const queue = queueOf({ bound: 1 });
    const reader = queue.reader({ since: 1 });
    reader.setLossless(true);
    for (let seq = 1; seq <= 3; seq += 1) queue.publish(item(seq));
    const room = queue.room();
    await reader.return();
    await room;
    expect(queue.room()).toBeUndefined();
  });

  test("publishers do not wait for a lossless loop that was left, and the queue is bounded again", async () => {
    const queue = queueOf({ bound: 2 });
    const own = queue.reader({ since: 1 });
    const loop = sharedReader(own, true);
    for (let seq = 1; seq <= 10; seq += 1) queue.publish(item(seq));
    const room = queue.room();
    expect(room).toBeDefined();
    await loop.return?.();
    await room;
    queue.close();
    expect((await readAll(own)).slice(-2)).toEqual([item(9), item(10)]);
  });

  test("a reader without since starts with the next published event", async () => {
    const queue = queueOf();
    queue.publish(item(1));
    const reader = queue.reader();
    queue.publish(item(2));
    queue.close();
    expect(await readAll(reader)).toEqual([item(2)]);
  });

  test("a reader starts at since, and events no longer available are reported as lagged", async () => {
    const queue = queueOf({ replay: 3 });
    for (let seq = 1; seq <= 10; seq += 1) queue.publish(item(seq));
    const readers = [queue.reader({ since: 9 }), queue.reader({ since: 4 }), queue.reader({ since: 12 })];
    for (const seq of [11, 12]) queue.publish(item(seq));
    queue.close();
    const last = [item(11), item(12)];
    expect(await Promise.all(readers.map(readAll))).toEqual([
      [item(9), item(10), ...last],
      [{ seq: 7, kind: "lagged", from: 4 }, item(8), item(9), item(10), ...last],
      [item(12)],
    ]);
  });

  test("events stored as text are replayed as they were published, from any sequence number", async () => {
    const runs: EventRuns<Numbered> = {
      text: (first, event) => (first.kind === "delta" && event.kind === "delta" ? String(event.from) : undefined),
      event: (_, seq, text) => ({ seq, kind: "delta", from: Number(text) }),
    };
    const apart = { merge: () => undefined };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean()), fc.nat(12), fc.nat(15), async (kinds, replay, since) => {
        const [short, whole] = [queueOf({ ...apart, replay, runs }), queueOf({ ...apart, replay })];
        for (const [seq, isDelta] of kinds.entries()) {
          for (const queue of [short, whole]) queue.publish(isDelta ? delta(seq) : item(seq));
        }
        for (const queue of [short, whole]) queue.close();
        const read = await readAll(short.reader({ since }));
        expect(read).toEqual(await readAll(whole.reader({ since })));
        const kept = kinds.length - Math.max(since, kinds.length - replay);
        expect(read.filter(({ kind }) => kind !== "lagged")).toHaveLength(Math.max(0, kept));
      }),
    );
  });

  test("events are kept for later readers up to a total weight", async () => {
    const queue = new EventQueue<Piece>(
      {
        weigh: ({ text }) => text.length,
        runs: { text: (_, { text }) => text, event: (_, seq, text) => ({ seq, text }) },
      },
      { lagged: (from, to) => ({ seq: to, text: `lagged ${from}` }) },
    );
    for (let seq = 0; seq < 100; seq += 1) queue.publish({ seq, text: "x".repeat(100_000) });
    const reader = queue.reader({ since: 0 });
    queue.close();
    const [lagged, ...kept] = await readAll(reader);
    expect(lagged?.text).toBe("lagged 0");
    expect(kept.length).toBeGreaterThanOrEqual(5);
    expect(kept.length).toBeLessThanOrEqual(10);
    expect(kept.at(-1)?.seq).toBe(99);
  });

  test("a run that is published at once is read and replayed like its events one by one", async () => {
    const textOf = ({ text }: Piece): string => text;
    const options: EventQueueOptions<Piece> = {
      bound: 12,
      merge: (older, newer) => ({ seq: newer.seq, text: older.text + newer.text }),
      weigh: ({ text }) => text.length,
      runs: { text: (_, { text }) => text, event: (_, seq, text) => ({ seq, text }) },
    };
    const steps = fc.array(fc.record({ length: fc.integer({ min: 1, max: 20 }), reads: fc.nat(4) }));
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(60), async (published, since) => {
        const play = async (publish: (queue: EventQueue<Piece>, run: readonly Piece[]) => void): Promise<unknown> => {
          const queue = new EventQueue(options, {
            lagged: (from, to) => ({ seq: to, text: `lagged ${from}` }),
            onLagged: () => [],
          });
          const readers = [queue.reader(), queue.reader({ since })];
          const read: Promise<unknown>[] = [];
          let next = 0;
          for (const { length, reads } of published) {
            publish(
              queue,
              Array.from({ length }, (_, index) => ({ seq: next + index, text: `${next + index} ` })),
            );
            next += length;
            // Calls without an event wait for the next run.
            for (let count = 0; count < reads; count += 1) read.push(...readers.map((reader) => reader.next()));
          }
          const replayed = queue.reader({ since: 0 });
          queue.close();
          const rest = [replayed, ...readers].map((reader) => readAll(reader));
          return await Promise.all([...read, ...rest]);
        };
        const atOnce = await play((queue, [first, ...rest]) => {
          if (first !== undefined) queue.publishRun(first, rest.map(textOf));
        });
        expect(atOnce).toEqual(
          await play((queue, run) => {
            for (const piece of run) queue.publish(piece);
          }),
        );
      }),
    );
  });

  test("a reader created after close gets the stored events, and ends", async () => {
    const queue = queueOf();
    for (const seq of [1, 2, 3]) queue.publish(item(seq));
    queue.close();
    queue.publish(item(4));
    expect(await readAll(queue.reader({ since: 2 }))).toEqual([item(2), item(3)]);
    expect(await readAll(queue.reader())).toEqual([]);
  });

  test("a reader over its bound loses the oldest events and gets a lagged event with their range", async () => {
    const queue = queueOf();
    const reader = queue.reader({ bound: 3 });
    for (let seq = 1; seq <= 10; seq += 1) queue.publish(item(seq));
    queue.close();
    expect(await readAll(reader)).toEqual([{ seq: 7, kind: "lagged", from: 1 }, item(8), item(9), item(10)]);
  });

  test("a reader that lags twice in a row gets the second range only", async () => {
    const queue = queueOf({ bound: 1 });
    const reader = queue.reader();
    for (const seq of [1, 2, 3]) queue.publish(item(seq));
    expect(await reader.next()).toEqual({ done: false, value: { seq: 2, kind: "lagged", from: 1 } });
    for (const seq of [4, 5]) queue.publish(item(seq));
    queue.close();
    expect(await readAll(reader)).toEqual([{ seq: 4, kind: "lagged", from: 3 }, item(5)]);
  });

  test("essential events are repeated after a lag, unless they are still queued", async () => {
    const open = [item(2), item(9)];
    const queue = queueOf({ bound: 3, onLagged: () => open });
    const reader = queue.reader();
    for (let seq = 1; seq <= 10; seq += 1) queue.publish(item(seq));
    queue.close();
    expect(await readAll(reader)).toEqual([{ seq: 7, kind: "lagged", from: 1 }, item(2), item(8), item(9), item(10)]);
  });

  test("deltas are merged only for a reader that falls behind", async () => {
    const queue = queueOf();
    const [quick, slow] = [queue.reader(), queue.reader()];
    const seen: Numbered[] = [];
    for (let seq = 1; seq <= 20; seq += 1) {
      queue.publish(delta(seq));
      const { value } = await quick.next();
      if (value !== undefined) seen.push(value);
    }
    queue.close();
    expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => delta(index + 1)));
    expect(await readAll(slow)).toEqual([...[1, 2, 3, 4].map(delta), { seq: 20, kind: "delta", from: 5 }]);
  });

  test("a reader that returns ends its waiting calls and gets no more events", async () => {
    const queue = queueOf();
    const reader = queue.reader();
    const waiting = reader.next();
    await reader.return();
    queue.publish(item(1));
    expect([await waiting, await reader.next()]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });

  test("a reader that is never read keeps no more than its bound", async () => {
    const queue = queueOf({ bound: 10 });
    const reader = queue.reader();
    for (let seq = 1; seq <= 10_000; seq += 1) queue.publish(item(seq));
    queue.close();
    const last = Array.from({ length: 10 }, (_, index) => item(9_991 + index));
    expect(await readAll(reader)).toEqual([{ seq: 9_990, kind: "lagged", from: 1 }, ...last]);
  });

  test("no reader sees a gap or a duplicate, whatever is published and however it reads", async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ do: fc.constant("publish" as const), isDelta: fc.boolean() }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant("read" as const), reader: fc.nat(2) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant("join" as const),
          since: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
          bound: fc.integer({ min: 1, max: 8 }),
        }),
      },
    );
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 200 }),
      fc.integer({ min: 1, max: 20 }),
      async (steps, replay) => {
        const queue = queueOf({ replay });
        const readers: {
          reader: EventReader<Numbered>;
          first: number;
          reads: ReturnType<EventReader<Numbered>["next"]>[];
        }[] = [];
        let seq = 0;
        for (const taken of steps) {
          if (taken.do === "publish") {
            seq += 1;
            queue.publish(taken.isDelta ? delta(seq) : item(seq));
          } else if (taken.do === "join") {
            const { since, bound } = taken;
            const reader = queue.reader(since === undefined ? { bound } : { since, bound });
            readers.push({ reader, first: since ?? seq + 1, reads: [] });
          } else {
            const chosen = readers[taken.reader];
            chosen?.reads.push(chosen.reader.next());
          }
        }
        queue.close();
        for (const { reader, first, reads } of readers) {
          const read = (await Promise.all(reads)).flatMap(({ value }) => (value === undefined ? [] : [value]));
          const numbers = [...read, ...(await readAll(reader))].flatMap(covered);
          const expected = Array.from({ length: Math.max(0, seq - first + 1) }, (_, index) => first + index);
          expect(numbers).toEqual(expected);
        }
      },
    );
    await fc.assert(property, { numRuns: 500 });
  });
});
