import { maxMessageBytes, maxMessageParts, UnsolicitedMessages } from "./stdio-transport.js";

const lineFeed = 10;
const carriageReturn = 13;
const quote = 34;
const backslash = 92;
const openers: ReadonlySet<number> = new Set([44, 91, 123]);

/**
 * A fetch whose responses are bounded: each event of an event stream, or any other body as a whole. `onBroken` is
 * called when the response to a message broke off or was too long, because its caller would otherwise wait for ever,
 * and when a server sends events without end.
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  onBroken: (reason: string) => void,
): typeof globalThis.fetch {
  const events = new UnsolicitedMessages();
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, headers, status, statusText } = response;
    if (body === null) return response;
    const isStream = headers.get("content-type")?.includes("text/event-stream") === true;
    const broken = init?.method === "POST" ? onBroken : () => undefined;
    const onEvent = (): void => {
      if (events.add()) return;
      onBroken(events.reason);
      throw new Error(events.reason);
    };
    const size = new MessageSize(isStream, onEvent);
    return new Response(bounded(body, size, broken), { headers, status, statusText });
  };
}

function bounded(
  body: ReadableStream<Uint8Array>,
  size: MessageSize,
  onBroken: (reason: string) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        size.add(value);
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        void reader.cancel().catch(() => undefined);
        // A caller that aborted the request itself is not notified.
        if ((error as Error).name !== "AbortError") onBroken((error as Error).message);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The size of the message being received. In an event stream, a message ends with an empty line. */
class MessageSize {
  readonly #isStream: boolean;
  readonly #onEvent: () => void;
  #bytes = 0;
  #parts = 0;
  #isLineEmpty = true;
  #isString = false;
  #isEscaped = false;

  constructor(isStream: boolean, onEvent: () => void) {
    this.#isStream = isStream;
    this.#onEvent = onEvent;
  }

  /** Throws when the message is too large. */
  add(chunk: Uint8Array): void {
    for (const byte of chunk) this.#count(byte);
    if (this.#bytes > maxMessageBytes) throw new Error(`a message is larger than ${maxMessageBytes} bytes`);
  }

  #count(byte: number): void {
    this.#bytes += 1;
    if (byte === lineFeed && this.#isLineEmpty && this.#isStream) this.#endEvent();
    if (byte !== carriageReturn) this.#isLineEmpty = byte === lineFeed;
    // A JSON string never contains a line break.
    if (byte === lineFeed) this.#isString = this.#isEscaped = false;
    else if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = this.#isString;
    else if (byte === quote) this.#isString = !this.#isString;
    else if (!this.#isString && openers.has(byte)) this.#addPart();
  }

  #addPart(): void {
    this.#parts += 1;
    if (this.#parts > maxMessageParts) throw new Error(`a message has more than ${maxMessageParts} parts`);
  }

  #endEvent(): void {
    this.#bytes = 0;
    this.#parts = 0;
    this.#onEvent();
  }
}
