import { maxMessageBytes, maxMessageParts } from "./stdio-transport.js";
import { UnaskedMessages } from "./unasked-messages.js";

const lineFeed = 10;
const carriageReturn = 13;
const quote = 34;
const backslash = 92;
const openers: ReadonlySet<number> = new Set([44, 91, 123]);

/**
 * A fetch whose answers have a bound: of a stream of events each one, of anything else the whole. Of an answer to a
 * message that broke off or was too long `onBroken` hears: whoever waits for it would wait for ever. It also hears of a
 * server that sends events without end.
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  onBroken: (reason: string) => void,
): typeof globalThis.fetch {
  const events = new UnaskedMessages();
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
        // Who let go of it themselves need not be told.
        if ((error as Error).name !== "AbortError") onBroken((error as Error).message);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** How much there is of the message that has not ended. In a stream of events one ends with an empty line. */
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

  /** Throws when it has become too much. */
  add(chunk: Uint8Array): void {
    for (const byte of chunk) this.#count(byte);
    if (this.#bytes > maxMessageBytes) throw new Error(`a message is longer than ${maxMessageBytes} bytes`);
  }

  #count(byte: number): void {
    this.#bytes += 1;
    if (byte === lineFeed && this.#isLineEmpty && this.#isStream) this.#endEvent();
    if (byte !== carriageReturn) this.#isLineEmpty = byte === lineFeed;
    // No string of JSON goes over the end of a line.
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
