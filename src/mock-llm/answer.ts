/** A streamed answer, already encoded. */
export interface Answer {
  /** Each ends with one delta; what comes before that delta stands before it. */
  readonly steps: readonly string[];
  /** What comes between the last delta and the terminal event. */
  readonly tail: string;
  /** What says that the answer is complete. */
  readonly terminal: string;
}

/** Gathers the events of an answer in their order. */
export class AnswerBuilder {
  readonly #steps: string[] = [];
  #pending = "";

  event(text: string): void {
    this.#pending += text;
  }

  delta(text: string): void {
    this.#steps.push(this.#pending + text);
    this.#pending = "";
  }

  finish(terminal: string): Answer {
    return { steps: this.#steps, tail: this.#pending, terminal };
  }
}

/** One server-sent event with a name, as Responses and Messages send them. */
export function namedEvent(data: { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
