/** A server answered with an error instead of a stream. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  readonly status: number;
  /** The value the body is, or its text where it is no JSON. */
  readonly body: unknown;
  /** When to come again, as the server put it. */
  readonly retryAfter: string | undefined;

  constructor(status: number, text: string, retryAfter: string | undefined) {
    super(`the server answered ${status}`);
    this.status = status;
    this.body = valueOf(text);
    this.retryAfter = retryAfter;
  }
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
