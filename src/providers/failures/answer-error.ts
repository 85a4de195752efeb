/** The server responded with an error instead of a stream. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  readonly status: number;
  /** The parsed body, or its text if it is not JSON. */
  readonly body: unknown;
  /** The server's `retry-after` header. */
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
