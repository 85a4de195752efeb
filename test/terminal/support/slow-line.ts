import { setTimeout as setTimer } from "node:timers";

/** The usual lengths of the pieces that a line cuts its traffic into: from one character to a whole packet. */
const pieceLengths = [1, 3, 2, 40, 1, 7, 1_400];

/**
 * One direction of a slow connection, such as ssh to another continent. All that is put into it arrives in order and
 * after a delay; texts that arrive together are merged, then cut anew, also within control sequences.
 */
export class SlowLine {
  readonly #delayMs: number;
  readonly #deliver: (piece: string) => void;
  #work: { readonly at: number; readonly item: string | (() => void) }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(delayMs: number, deliver: (piece: string) => void) {
    this.#delayMs = delayMs;
    this.#deliver = deliver;
  }

  /** Sends a text, or does something in order with the texts. */
  push(item: string | (() => void)): void {
    this.#work.push({ at: performance.now() + this.#delayMs, item });
    this.#wait();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#work = [];
  }

  #wait(): void {
    const [next] = this.#work;
    if (next === undefined || this.#timer !== undefined) return;
    this.#timer = setTimer(() => this.#arrive(), Math.max(0, next.at - performance.now()));
  }

  #arrive(): void {
    this.#timer = undefined;
    const due = this.#work.findIndex(({ at }) => at > performance.now());
    const arrived = this.#work.splice(0, due === -1 ? this.#work.length : due);
    let text = "";
    for (const { item } of arrived) {
      if (typeof item === "string") text += item;
      else {
        this.#cut(text);
        text = "";
        item();
      }
    }
    this.#cut(text);
    this.#wait();
  }

  #cut(text: string): void {
    let rest = text;
    while (rest !== "") {
      const length = pieceLengths[this.#count % pieceLengths.length] ?? 1;
      this.#count += 1;
      this.#deliver(rest.slice(0, length));
      rest = rest.slice(length);
    }
  }
}
