import { counted } from "../../base/text/counted.js";

/** Aborts when its time is over or another signal aborts; the time does not run while the user is being asked. */
export class CallDeadline {
  /** The deadline's length, in words. */
  readonly text: string;
  readonly signal: AbortSignal;
  readonly #timeout = new AbortController();
  #leftMs: number;
  #since = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, signal: AbortSignal) {
    this.text = counted(ms / 1_000, "second");
    this.#leftMs = ms;
    this.signal = AbortSignal.any([signal, this.#timeout.signal]);
    this.#run();
  }

  /** Whether the time ran out. */
  get isOver(): boolean {
    return this.#timeout.signal.aborted;
  }

  /** Stops the clock until the returned object is disposed. */
  paused(): Disposable {
    this.#pauses += 1;
    if (this.#pauses === 1) {
      clearTimeout(this.#timer);
      this.#leftMs -= performance.now() - this.#since;
    }
    return {
      [Symbol.dispose]: () => {
        this.#pauses -= 1;
        if (this.#pauses === 0) this.#run();
      },
    };
  }

  end(): void {
    this.#pauses += 1;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#timeout.abort(new Error("timed out")), Math.max(0, this.#leftMs));
  }
}
