/** A sequence of texts that are built on demand, so that an answer that takes a minute holds none of them in memory. */
interface Texts {
  readonly length: number;
  at(index: number): string | undefined;
}

/** A streamed answer, already encoded. */
export interface Answer {
  /** Each step ends with one delta; events that precede the delta are in the same step. */
  readonly steps: Texts;
  /** The events between the last delta and the terminal event. */
  readonly tail: string;
  /** The event that completes the answer. */
  readonly terminal: string;
}

/** Deltas of one kind; they differ only in their text and their position. */
interface Run {
  /** The index of its first step. */
  readonly from: number;
  /** The events before its first delta. */
  readonly before: string;
  readonly quoted: readonly string[];
  readonly encode: (quoted: string, place: number) => string;
}

/** Collects the events of an answer in order. */
export class AnswerBuilder {
  readonly #steps = new Steps();
  #pending = "";

  event(text: string): void {
    this.#pending += text;
  }

  /** `encode` may be called at any time, and repeatedly. */
  deltas(quoted: readonly string[], encode: Run["encode"]): void {
    if (quoted.length === 0) return;
    this.#steps.add({ from: this.#steps.length, before: this.#pending, quoted, encode });
    this.#pending = "";
  }

  finish(terminal: string): Answer {
    return { steps: this.#steps, tail: this.#pending, terminal };
  }
}

class Steps implements Texts {
  readonly #runs: Run[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(run: Run): void {
    this.#runs.push(run);
    this.#length += run.quoted.length;
  }

  at(index: number): string | undefined {
    let last = this.#runs.length - 1;
    while (last > 0 && index < (this.#runs[last]?.from ?? 0)) last -= 1;
    const run = this.#runs[last];
    const quoted = run?.quoted[index - run.from];
    if (run === undefined || quoted === undefined) return undefined;
    const text = run.encode(quoted, index - run.from);
    return index === run.from ? run.before + text : text;
  }
}

/** Encodes a server-sent event with a name, as in the Responses and Messages APIs. */
export function namedEvent(data: { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
