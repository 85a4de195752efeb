import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isRecord } from "../../../base/is-record.js";
import { within } from "../../../base/time/waiting.js";
import { eventJson } from "../../../providers/transport/event-json.js";
import { readThrottled } from "../../../tools/exec/read-throttled.js";
import { BoundedLines } from "./bounded-lines.js";
import { type ServerCommand, ServerProcess } from "./server-process.js";
import { UnsolicitedMessages } from "./unasked-messages.js";

/** After this time the transport pauses for as long as it has worked, so that others get their turn. */
const sliceMs = 10;

const maxPauseMs = 1_000;

/** Maximum size of one message; a server that sends more is considered broken. */
export const maxMessageBytes = 16 * 1024 * 1024;
/**
 * Maximum number of brackets and commas: a message made only of these would block the event loop for seconds while
 * parsing.
 */
export const maxMessageParts = 200_000;
/** Maximum number of output lines that are not messages; up to here they are ignored. */
const maxStrayLines = 1_000;
/** Time between the exit of a process and the end of its output, in either order. */
const lastWordsMs = 300;
const invalidMessage = -32_600;

/** Communicates with a server through the pipes of its process. No output of the server can make it throw. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #command: ServerCommand;
  readonly #onStderr: (bytes: Buffer) => void;
  #process: ServerProcess | undefined;
  #closed = false;
  #strayLines = 0;
  readonly #asked = new Set<unknown>();
  readonly #unasked = new UnsolicitedMessages();
  /** The reason why the server ended, unless we ended it. */
  reason: string | undefined;

  constructor(command: ServerCommand, onStderr: (bytes: Buffer) => void) {
    this.#command = command;
    this.#onStderr = onStderr;
  }

  async start(): Promise<void> {
    const started = await ServerProcess.start(this.#command);
    this.#process = started;
    const output = this.#listen(started.stdout);
    void readThrottled(started.stderr, (bytes) => this.#onStderr(bytes));
    void this.#watch(started, output);
  }

  /** Resolves at the end of the output. While messages are being processed, no more output is read. */
  async #listen(stdout: Readable): Promise<void> {
    const work: (() => void)[] = [];
    const lines = new BoundedLines(maxMessageBytes, {
      line: (text) => work.push(() => this.#read(text)),
      tooLong: (head, tail) =>
        work.push(() => this.#refuse(`a message is larger than ${maxMessageBytes} bytes`, head, tail)),
    });
    try {
      for await (const bytes of stdout) {
        if (this.#closed) continue;
        lines.push(bytes as Buffer);
        await paced(work.splice(0));
      }
    } catch {
      // A broken pipe ends the output as well.
    }
  }

  /** Output before the exit still counts; a server that only closed its output will send nothing more. */
  async #watch({ exited }: ServerProcess, output: Promise<void>): Promise<void> {
    await Promise.race([exited, output]);
    await within(output, lastWordsMs);
    const code = (await within(exited, lastWordsMs)) ? await exited : undefined;
    this.#end(code === undefined ? "it closed its output" : `it exited with code ${code}`);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (this.#closed || stdin === undefined || !stdin.writable) throw new Error("the server has exited");
    if ("id" in message && "method" in message) this.#asked.add(message.id);
    if (!stdin.write(`${JSON.stringify(message)}\n`)) {
      await new Promise<void>((resolve) => {
        stdin.once("drain", resolve);
        stdin.once("close", resolve);
      });
    }
  }

  async close(): Promise<void> {
    this.#end(undefined);
    await this.#process?.end();
  }

  #end(reason: string | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.reason = reason;
    void this.#process?.end();
    this.onclose?.();
  }

  #read(text: string): void {
    if (this.#closed) return;
    let message: Record<string, unknown>;
    try {
      message = eventJson(text, maxMessageParts);
    } catch (error) {
      this.#refuse(error instanceof Error ? error.message : String(error), text.slice(0, 256), text.slice(-256));
      return;
    }
    const isAnswer = message["method"] === undefined && this.#asked.delete(message["id"]);
    if (!isAnswer && !this.#unasked.add()) return this.#end(this.#unasked.reason);
    try {
      this.onmessage?.(answerOf(message) ?? (message as JSONRPCMessage));
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Fails the request that the message answers, if its id can be determined. */
  #refuse(why: string, head: string, tail: string): void {
    const id = idIn(head, tail);
    this.onerror?.(new Error(why));
    if (id !== undefined && !this.#asked.delete(id) && !this.#unasked.add()) return this.#end(this.#unasked.reason);
    if (id !== undefined) {
      this.onmessage?.({ jsonrpc: "2.0", id, error: { code: invalidMessage, message: why } });
      return;
    }
    this.#strayLines += 1;
    if (this.#strayLines > maxStrayLines) this.#end("it writes invalid messages to its output");
  }
}

/** Repairs an answer: the library would ignore an invalid one, and its caller would wait for ever. */
function answerOf({ id, method, result, error }: Readonly<Record<string, unknown>>): JSONRPCMessage | undefined {
  if (typeof id !== "number" || method !== undefined) return undefined;
  if (isRecord(result)) return { jsonrpc: "2.0", id, result };
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  const text = typeof message === "string" ? message : "its answer is not a valid result";
  return { jsonrpc: "2.0", id, error: { code: Number.isInteger(code) ? Number(code) : invalidMessage, message: text } };
}

function idIn(head: string, tail: string): number | undefined {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$/.exec(tail);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** Runs the work in order, limited by time and not by the number of bytes. */
export async function paced(work: readonly (() => void)[], now = () => performance.now()): Promise<void> {
  let began = now();
  for (const each of work) {
    each();
    // Promise callbacks of the work count as part of it.
    await Promise.resolve();
    const spent = now() - began;
    if (spent < sliceMs) continue;
    await sleep(Math.min(spent, maxPauseMs), undefined, { ref: false });
    began = now();
  }
}
