/** Maximum total weight of the kept events. */
const maxReplayWeight = 1_000_000;

/** Maximum total weight of one reader's unread events. */
const maxUnreadWeight = 4_000_000;

// Merging hides the original timing of events, so a reader that keeps up gets them unmerged.
const mergeAbove = 4;

/** From this weight of unread events on, the publisher waits for a lossless reader. */
const fullWeight = 1_000_000;

const defaultBound = 1_024;

export interface EventQueueOptions<E> {
  /** Maximum number of unread events per reader. */
  readonly bound?: number;
  /** Number of events kept for readers that start later. */
  readonly replay?: number;
  /** The weight of an event in memory; without it only the number of events is bounded. */
  readonly weigh?: (event: E) => number;
  /** Merges two neighbouring events into one with the newer number, or returns undefined. */
  readonly merge?: (older: E, newer: E) => E | undefined;
  /** Selects the events that are stored compactly, as texts only. */
  readonly runs?: EventRuns<E>;
}

/** The publisher of a queue's events. Apart from the options, because those are the same for many queues. */
export interface EventSource<E> {
  /** Creates the event that replaces all events from `from` to `to`, which a slow reader has missed. */
  lagged(from: number, to: number): E;
  /** Returns events that no reader may miss. After a lag, those up to its end are repeated. */
  onLagged?(): readonly E[];
}

/**
 * Delivers events to any number of readers, each at its own pace. Event numbers have no gaps. After `release` it takes
 * little memory, because a sleeping conversation keeps its queue.
 */
export class EventQueue<E extends { readonly seq: number }> {
  readonly #options: EventQueueOptions<E>;
  readonly #source: EventSource<E>;
  /** A list and not a set, which takes six times the memory. */
  #readers: readonly EventReader<E>[] = [];
  /** Absent when no events are kept. */
  #replay: Replay<E> | undefined;
  /** The number of the last event. */
  #last: number | undefined;
  #isClosed = false;

  constructor(options: EventQueueOptions<E>, source: EventSource<E>) {
    this.#options = options;
    this.#source = source;
  }

  /** Never blocks; after `close` it does nothing. */
  publish(event: E): void {
    if (this.#isClosed) return;
    this.#last = event.seq;
    this.#replay ??= new Replay(this.#options);
    this.#replay.push(event);
    for (const reader of this.#readers) reader.receive(event);
  }

  /** Publishes an event, and for each text one that differs only in number and text. */
  publishRun(first: E, texts: readonly string[]): void {
    const { runs } = this.#options;
    if (runs === undefined) throw new Error("the queue has no runs");
    if (this.#isClosed) return;
    this.#last = first.seq + texts.length;
    this.#replay ??= new Replay(this.#options);
    this.#replay.pushRun(first, texts, runs);
    for (const reader of this.#readers) reader.receiveRun(first, texts, runs);
  }

  /** Resolves when the lossless readers can take more; undefined when they can now or there are none. */
  room(): Promise<void> | undefined {
    for (const reader of this.#readers) {
      const room = reader.room();
      if (room !== undefined) return room;
    }
    return undefined;
  }

  /** Without `since` a reader receives only new events; with it, all events from that number on. */
  reader({ since, bound }: { readonly since?: number; readonly bound?: number } = {}): EventReader<E> {
    const options = bound === undefined ? this.#options : { ...this.#options, bound };
    const reader = new EventReader<E>(options, this.#source, this, since);
    if (since !== undefined) this.#repeatTo(reader);
    if (this.#isClosed) reader.close();
    else this.#readers = [...this.#readers, reader];
    return reader;
  }

  #repeatTo(reader: EventReader<E>): void {
    if (this.#replay !== undefined) for (const event of this.#replay.events()) reader.receive(event);
    else if (this.#last !== undefined) reader.missThrough(this.#last);
  }

  /** Called by a reader that needs no more events. */
  unsubscribe(reader: EventReader<E>): void {
    const index = this.#readers.indexOf(reader);
    // Unlike `filter`, this makes no room for more.
    if (index !== -1) this.#readers = this.#readers.toSpliced(index, 1);
  }

  /** Frees the kept and unread events. A reader that has not read all of them, unless it is lossless, lags. */
  release(): void {
    this.#replay = undefined;
    for (const reader of this.#readers) reader.release();
  }

  /** Each reader ends after its remaining events. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.close();
    this.#readers = [];
  }
}

/** Resolves one pending `next` call. */
type Waiter<E> = (result: IteratorResult<E, undefined>) => void;

/** One reader of an event queue. `next` may be called again before it has resolved; the calls are served in order. */
export class EventReader<E extends { readonly seq: number }> implements AsyncIterableIterator<E> {
  readonly #options: EventQueueOptions<E>;
  readonly #source: EventSource<E>;
  readonly #queue: Pick<EventQueue<E>, "unsubscribe">;
  /** The number the reader needs next; undefined until its first event. */
  #position: number | undefined;
  /** The number of the last event that was dropped from the front of the backlog. */
  #droppedThrough: number | undefined;
  #repeats: E[] | undefined;
  /** Unread events; those before `#head` have been taken. */
  #backlog: E[] = [];
  #head = 0;
  /** The total weight of the unread events. */
  #weight = 0;
  #waiting: Waiter<E>[] = [];
  #isClosed = false;
  #isLossless = false;
  /** Resolvers of pending `room` calls. */
  #roomWaiters: (() => void)[] | undefined;

  constructor(
    options: EventQueueOptions<E>,
    source: EventSource<E>,
    queue: Pick<EventQueue<E>, "unsubscribe">,
    since: number | undefined,
  ) {
    this.#options = options;
    this.#source = source;
    this.#queue = queue;
    this.#position = since;
  }

  /** While lossless, no event is dropped, and the publisher has to wait for `room`. */
  setLossless(isLossless: boolean): void {
    this.#isLossless = isLossless;
    this.#dropOverBound();
    this.#notifyRoom();
  }

  /** Resolves when a lossless reader has read enough to take more; undefined when it can take more now. */
  room(): Promise<void> | undefined {
    if (!this.#isFull) return undefined;
    const waiters = (this.#roomWaiters ??= []);
    return new Promise((resolve) => void waiters.push(resolve));
  }

  /** Called by the queue: adds an event. Unless the reader is lossless, older events are dropped beyond the bound. */
  receive(event: E): void {
    if (this.#isClosed || event.seq < (this.#position ?? event.seq)) return;
    // A pending `next` call means that the backlog is empty.
    if (this.#waiting.length > 0 && event.seq === this.#position) return this.#handOver(event);
    if (this.#position === undefined) this.#position = event.seq;
    // Everything unread is contiguous, so only the first event can come after a gap.
    else if (this.#unread === 0 && event.seq > this.#position) this.#droppedThrough = event.seq - 1;
    if (!this.#mergeIntoLast(event)) this.#backlog.push(event);
    this.#weight += this.#weightOf(event);
    this.#dropOverBound();
    while (this.#waiting.length > 0) {
      const next = this.#take();
      if (next === undefined) return;
      this.#waiting.shift()?.({ done: false, value: next });
    }
  }

  /** Called by the queue: the events up to this one are not kept any more. */
  missThrough(seq: number): void {
    if (this.#position !== undefined && this.#position <= seq) this.#droppedThrough = seq;
  }

  /** Called by the queue: adds the events of a run. Those that would be merged one by one are merged at once. */
  receiveRun(first: E, texts: readonly string[], runs: EventRuns<E>): void {
    this.receive(first);
    for (const [index, text] of texts.entries()) {
      if (this.#unread > mergeAbove) {
        const merged = runs.event(first, first.seq + texts.length, texts.slice(index).join(""));
        return this.receive(merged);
      }
      this.receive(runs.event(first, first.seq + 1 + index, text));
    }
  }

  /** Called by the queue: drops the unread events, and lists that have grown. */
  release(): void {
    if (this.#waiting.length === 0) this.#waiting = [];
    if (this.#isLossless && this.#unread > 0) return;
    this.#droppedThrough = this.#backlog.at(-1)?.seq ?? this.#droppedThrough;
    this.#backlog = [];
    this.#head = 0;
    this.#weight = 0;
  }

  /** Called by the queue when no more events will come. */
  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
    this.#notifyRoom();
  }

  /** `onWait` receives the waiter of a pending call, so that it can be withdrawn. */
  next(onWait?: (waiter: Waiter<E>) => void): Promise<IteratorResult<E, undefined>> {
    const value = this.#take();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    const result = new Promise(this.#wait);
    const waiter = this.#waiting.at(-1);
    if (waiter !== undefined) onWait?.(waiter);
    return result;
  }

  // Created once, because most events are awaited.
  readonly #wait = (resolve: Waiter<E>): void => void this.#waiting.push(resolve);

  /** Ends a pending `next` call, so that it does not take an event from the other waiters. */
  withdraw(waiter: Waiter<E>): void {
    const index = this.#waiting.indexOf(waiter);
    if (index === -1) return;
    this.#waiting.splice(index, 1);
    waiter({ done: true, value: undefined });
  }

  return(): Promise<IteratorResult<E, undefined>> {
    this.#queue.unsubscribe(this);
    this.#backlog = [];
    this.#head = 0;
    this.#weight = 0;
    this.#repeats = undefined;
    this.#droppedThrough = undefined;
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get #unread(): number {
    return this.#backlog.length - this.#head;
  }

  get #bound(): number {
    return this.#options.bound ?? defaultBound;
  }

  get #isOverBound(): boolean {
    return this.#unread > this.#bound || (this.#weight > maxUnreadWeight && this.#unread > 1);
  }

  get #isFull(): boolean {
    if (!this.#isLossless || this.#isClosed) return false;
    return this.#unread > this.#bound / 2 || this.#weight > fullWeight;
  }

  #dropOverBound(): void {
    while (!this.#isLossless && this.#isOverBound) this.#droppedThrough = this.#shift()?.seq;
  }

  #notifyRoom(): void {
    if (this.#roomWaiters === undefined || this.#isFull) return;
    const waiters = this.#roomWaiters;
    this.#roomWaiters = undefined;
    for (const resolve of waiters) resolve();
  }

  #weightOf(event: E): number {
    return this.#options.weigh?.(event) ?? 0;
  }

  #mergeIntoLast(event: E): boolean {
    const last = this.#backlog.at(-1);
    if (last === undefined || this.#unread <= mergeAbove) return false;
    const merged = this.#options.merge?.(last, event);
    if (merged === undefined) return false;
    this.#backlog[this.#backlog.length - 1] = merged;
    return true;
  }

  #handOver(event: E): void {
    this.#position = event.seq + 1;
    this.#waiting.shift()?.({ done: false, value: event });
  }

  #take(): E | undefined {
    if (this.#droppedThrough !== undefined) return this.#lagEvent(this.#droppedThrough);
    const repeat = this.#repeats?.shift();
    if (repeat !== undefined) return repeat;
    const event = this.#shift();
    if (event !== undefined) this.#position = event.seq + 1;
    return event;
  }

  #lagEvent(to: number): E {
    const lagged = this.#source.lagged(this.#position ?? to, to);
    // Events after the lag are still in the backlog.
    this.#repeats = (this.#source.onLagged?.() ?? []).filter(({ seq }) => seq <= to);
    this.#droppedThrough = undefined;
    this.#position = to + 1;
    return lagged;
  }

  #shift(): E | undefined {
    const event = this.#backlog[this.#head];
    if (event === undefined) return undefined;
    this.#head += 1;
    this.#weight -= this.#weightOf(event);
    if (this.#head > this.#bound || this.#head === this.#backlog.length) {
      this.#backlog.splice(0, this.#head);
      this.#head = 0;
    }
    this.#notifyRoom();
    return event;
  }
}

/** Stores consecutive events that differ only in their number and one text, whose length is their weight, as texts. */
export interface EventRuns<E> {
  /** Returns the text of `event` if it can be part of a run that begins with `first`. */
  text(first: E, event: E): string | undefined;
  event(first: E, seq: number, text: string): E;
}

/** Consecutive events that are kept or dropped together; more than one only if they are a run. */
interface Block<E> {
  readonly first: E;
  /** The texts of the events after the first. */
  texts: string[] | JoinedTexts | undefined;
  count: number;
  weight: number;
}

/** Texts in one string: as a string of its own, a short text takes several times its length, and survives longer. */
interface JoinedTexts {
  readonly joined: string;
  readonly lengths: readonly number[];
}

const maxBlockCount = 64;
const maxBlockWeight = 50_000;

/** The last events of a queue, kept for readers that start later. */
class Replay<E extends { readonly seq: number }> {
  readonly #options: EventQueueOptions<E>;
  /** Number of events kept; 0 keeps none. */
  readonly #bound: number;
  #blocks: Block<E>[] = [];
  #count = 0;
  #weight = 0;

  constructor(options: EventQueueOptions<E>) {
    this.#options = options;
    this.#bound = options.replay ?? options.bound ?? defaultBound;
  }

  push(event: E): void {
    if (this.#bound === 0) return;
    const last = this.#blocks.at(-1);
    const text = last && this.#options.runs?.text(last.first, event);
    if (last === undefined || text === undefined || !this.#addText(last, text)) this.#addBlock(event);
    this.#dropOverBound();
  }

  pushRun(first: E, texts: readonly string[], runs: EventRuns<E>): void {
    this.push(first);
    if (this.#bound === 0) return;
    let last = this.#blocks.at(-1);
    for (const [index, text] of texts.entries()) {
      if (last !== undefined && this.#addText(last, text)) continue;
      last = this.#addBlock(runs.event(first, first.seq + 1 + index, text));
    }
    this.#dropOverBound();
  }

  events(): E[] {
    const all = this.#blocks.flatMap(({ first, texts }) => [
      first,
      ...separate(texts).map((text, index) => this.#options.runs?.event(first, first.seq + 1 + index, text) ?? first),
    ]);
    return all.slice(Math.max(0, all.length - this.#bound));
  }

  #addBlock(first: E): Block<E> {
    const weight = this.#options.weigh?.(first) ?? 0;
    const block = { first, texts: undefined, count: 1, weight };
    this.#blocks.push(block);
    this.#count += 1;
    this.#weight += weight;
    return block;
  }

  /** Adds a text to the last block; returns whether there was room for it. */
  #addText(block: Block<E>, text: string): boolean {
    if (block.count >= maxBlockCount || block.weight >= maxBlockWeight) return false;
    block.texts ??= [];
    if (!Array.isArray(block.texts)) return false;
    block.texts.push(text);
    block.count += 1;
    block.weight += text.length;
    this.#count += 1;
    this.#weight += text.length;
    if (block.count === maxBlockCount) block.texts = joinTexts(block.texts);
    return true;
  }

  #dropOverBound(): void {
    // Half at once, because the blocks that remain are moved.
    if (this.#count >= this.#bound * 2) this.#dropWhile((block) => this.#count - block.count >= this.#bound);
    if (this.#weight > maxReplayWeight) this.#dropWhile(() => this.#weight > maxReplayWeight / 2);
  }

  #dropWhile(isDropped: (block: Block<E>) => boolean): void {
    let dropped = 0;
    for (let block = this.#blocks[0]; block !== undefined && isDropped(block); block = this.#blocks[dropped]) {
      this.#count -= block.count;
      this.#weight -= block.weight;
      dropped += 1;
    }
    this.#blocks.splice(0, dropped);
  }
}

function joinTexts(texts: readonly string[]): JoinedTexts {
  return { joined: texts.join(""), lengths: texts.map((text) => text.length) };
}

function separate(texts: Block<unknown>["texts"]): readonly string[] {
  if (texts === undefined || !("joined" in texts)) return texts ?? [];
  let end = 0;
  return texts.lengths.map((length) => texts.joined.slice(end, (end += length)));
}

/** Shares one reader among successive loops. It is lossless until a lossless loop ends. */
export function sharedReader<E extends { readonly seq: number }>(
  own: EventReader<E>,
  lossless: boolean,
): AsyncIterableIterator<E> {
  if (lossless) own.setLossless(true);
  let last: Waiter<E> | undefined;
  const onWait = (waiter: Waiter<E>): void => void (last = waiter);
  return {
    next: () => own.next(onWait),
    return: () => {
      // The rest may never be read, and a turn must not wait for that.
      if (lossless) own.setLossless(false);
      if (last !== undefined) own.withdraw(last);
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
