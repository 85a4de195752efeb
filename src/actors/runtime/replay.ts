/** Maximum total weight of the kept events. */
const maxReplayWeight = 1_000_000;

export interface ReplayOptions<E> {
  /** Number of events kept; 0 keeps none. */
  readonly bound: number;
  readonly weigh: ((event: E) => number) | undefined;
  readonly runs: EventRuns<E> | undefined;
}

/** Stores consecutive events that differ only in their number and one text as a list of texts. */
export interface EventRuns<E> {
  /** Returns the text of `event` if it can be part of a run that begins with `first`. */
  text(first: E, event: E): string | undefined;
  event(first: E, seq: number, text: string): E;
}

interface EventRun<E> {
  readonly first: E;
  /** The texts of the events after the first. */
  readonly texts: string[];
}

/** The last events of a queue, kept for readers that start later. */
export class Replay<E extends { readonly seq: number }> {
  readonly #options: ReplayOptions<E>;
  #runs: EventRun<E>[] = [];
  #count = 0;
  #weight = 0;

  constructor(options: ReplayOptions<E>) {
    this.#options = options;
  }

  push(event: E): void {
    const { bound } = this.#options;
    if (bound === 0) return;
    this.#add(event);
    // Many events are dropped at once, because the remaining runs have to be rebuilt.
    if (this.#count >= bound * 2) this.#keep(bound);
    else if (this.#weight > maxReplayWeight) this.#keep(Math.floor(this.#count / 2));
  }

  events(): E[] {
    const all = this.#runs.flatMap(({ first, texts }) => [
      first,
      ...texts.map((text, index) => this.#options.runs?.event(first, first.seq + 1 + index, text) ?? first),
    ]);
    return all.slice(Math.max(0, all.length - this.#options.bound));
  }

  #add(event: E): void {
    const { runs, weigh } = this.#options;
    const last = this.#runs.at(-1);
    const text = last && runs?.text(last.first, event);
    if (last === undefined || text === undefined) this.#runs.push({ first: event, texts: [] });
    else last.texts.push(text);
    this.#count += 1;
    this.#weight += weigh?.(event) ?? 0;
  }

  #keep(count: number): void {
    const events = this.events();
    this.#runs = [];
    this.#count = 0;
    this.#weight = 0;
    for (const event of events.slice(events.length - count)) this.#add(event);
  }
}
