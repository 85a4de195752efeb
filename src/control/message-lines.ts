import { once } from "node:events";
import type { Socket } from "node:net";
import { BoundedLines } from "../base/text/bounded-lines.js";
import { jsonOrUndefined } from "../base/parse.js";

/** Received messages that wait for the reader; from this number on the socket is not read. */
const maxWaiting = 64;

const endMs = 1_000;

/** JSON values, one on each line of a socket. Of a line that is too long or no JSON, `undefined` is read. */
export class MessageLines {
  readonly #socket: Socket;
  readonly #received: unknown[] = [];
  #isOver = false;
  #onChange: (() => void) | undefined;

  constructor(socket: Socket, maxLineBytes: number) {
    this.#socket = socket;
    const push = (value: unknown): void => {
      this.#received.push(value);
      if (this.#received.length >= maxWaiting) socket.pause();
      this.#onChange?.();
    };
    const lines = new BoundedLines(maxLineBytes, {
      line: (text) => push(jsonOrUndefined(text)),
      tooLong: () => push(undefined),
    });
    socket.on("data", (bytes) => lines.push(bytes));
    // Without a listener the error would be thrown; `close` follows it.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#isOver = true;
      this.#onChange?.();
    });
  }

  /** Returns the next value; `done` when the connection is closed. */
  async next(): Promise<{ readonly done: boolean; readonly value?: unknown }> {
    while (this.#received.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => (this.#onChange = resolve));
    }
    if (this.#received.length === 0) return { done: true };
    const value = this.#received.shift();
    if (this.#received.length < maxWaiting) this.#socket.resume();
    return { done: false, value };
  }

  /** Sends a value; resolves when the socket can take more, or is closed. */
  async send(message: object): Promise<void> {
    if (this.#isOver || !this.#socket.writable) return;
    if (this.#socket.write(`${JSON.stringify(message)}\n`)) return;
    const closed = new AbortController();
    const onClose = (): void => closed.abort();
    this.#socket.once("close", onClose);
    await once(this.#socket, "drain", { signal: closed.signal }).catch(() => undefined);
    this.#socket.off("close", onClose);
  }

  /** Sends what was written, then closes the connection; a peer that does not read is not waited for long. */
  end(): void {
    if (this.#isOver) return;
    // The end of the process waits for it, and nothing else may keep the event loop running by then.
    this.#socket.ref();
    const timer = setTimeout(() => this.#socket.destroy(), endMs);
    this.#socket.once("close", () => clearTimeout(timer));
    this.#socket.end();
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }
}
