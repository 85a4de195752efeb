import { maxMessageBytes } from "./stdio-transport.js";

const lineFeed = 10;
const carriageReturn = 13;

/**
 * A fetch whose answers have a bound: of a stream of events each one, of anything else the whole. Of an answer to a
 * message that broke off or was too long `onBroken` hears: whoever waits for it would wait for ever.
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  onBroken: (reason: string) => void,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, headers, status, statusText } = response;
    if (body === null) return response;
    const isStream = headers.get("content-type")?.includes("text/event-stream") === true;
    const broken = init?.method === "POST" ? onBroken : () => undefined;
    return new Response(bounded(body, isStream, broken), { headers, status, statusText });
  };
}

function bounded(
  body: ReadableStream<Uint8Array>,
  isStream: boolean,
  onBroken: (reason: string) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const count = isStream ? new EventBytes() : new AllBytes();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (count.add(value) > maxMessageBytes) throw new Error(`a message is longer than ${maxMessageBytes} bytes`);
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

class AllBytes {
  #bytes = 0;

  add(chunk: Uint8Array): number {
    this.#bytes += chunk.length;
    return this.#bytes;
  }
}

/** How much there is of the event that has not ended; one ends with an empty line. */
class EventBytes {
  #bytes = 0;
  #isLineEmpty = true;

  add(chunk: Uint8Array): number {
    for (const byte of chunk) {
      this.#bytes += 1;
      if (byte === lineFeed && this.#isLineEmpty) this.#bytes = 0;
      if (byte !== carriageReturn) this.#isLineEmpty = byte === lineFeed;
    }
    return this.#bytes;
  }
}
