import { errorMessage } from "../../../base/error-message.js";
import { jsonValue, parsed } from "../../../base/parse.js";
import { type Initialize, StreamInput, StreamRequest, type StreamUserMessage } from "../../../messages/stream-json.js";
import { usageError } from "../../command-error.js";
import { readLines } from "../../terminal/read-input.js";
import type { Terminal } from "../../terminal/terminal.js";
import type { StreamMessage } from "./stream-messages.js";

/** More messages than this would wait in memory for a turn of their own. */
const maxWaiting = 1_000;

/** Answers a request of the program; what it returns is sent back, and what it throws is sent as the error. */
type RequestHandler = (request: Exclude<StreamRequest, Initialize>) => Promise<object>;

/** The two ends of Claude Code's stream-json protocol: lines from the program on stdin, lines to it on stdout. */
export class StreamConnection implements AsyncDisposable {
  readonly #terminal: Terminal;
  readonly #lines: AsyncGenerator<string>;
  readonly #signal: AbortSignal;
  /** Questions to the program, by id, with what their answer resolves. */
  readonly #asked = new Map<string, (answer: ProgramAnswer) => void>();
  readonly #waiting: StreamUserMessage[] = [];
  #number = 0;
  #isEnded = false;
  #failure: unknown;
  #onChange: (() => void) | undefined;

  constructor(terminal: Terminal, signal: AbortSignal) {
    this.#terminal = terminal;
    this.#signal = signal;
    this.#lines = readLines(terminal.stdin, signal);
  }

  /**
   * Reads up to the first message, which may come after `initialize`. Its answer is sent by the caller, because it
   * depends on whether a conversation can be opened.
   */
  async initialize(): Promise<{ readonly id: string; readonly request: Initialize } | undefined> {
    for (let input = await this.#read(); input !== undefined; input = await this.#read()) {
      if (input.type === "user") {
        this.#waiting.push(input);
        return undefined;
      }
      if (input.type !== "control_request") continue;
      const { request_id: id } = input;
      try {
        const request = parsed(StreamRequest, input.request, "control_request");
        if (request.subtype === "initialize") return { id, request };
        await this.refuse(id, `${request.subtype} came before initialize`);
      } catch (error) {
        await this.refuse(id, errorMessage(error));
      }
    }
    this.#isEnded = true;
    return undefined;
  }

  /** Reads the other lines until stdin ends. Failures are thrown by `nextMessage`. */
  async serve(handle: RequestHandler): Promise<void> {
    try {
      for (let input = await this.#read(); input !== undefined; input = await this.#read()) {
        await this.#accept(input, handle);
      }
    } catch (error) {
      this.#failure = error;
    }
    this.#isEnded = true;
    for (const resolve of this.#asked.values()) resolve(noAnswer);
    this.#onChange?.();
  }

  /** The next message of the user; undefined when stdin has ended or the run was interrupted. */
  async nextMessage(): Promise<StreamUserMessage | undefined> {
    const wake = (): void => this.#onChange?.();
    this.#signal.addEventListener("abort", wake);
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure;
        const next = this.#waiting.shift();
        if (next !== undefined || this.#isEnded || this.#signal.aborted) return next;
        await new Promise<void>((resolve) => {
          this.#onChange = resolve;
        });
      }
    } finally {
      this.#onChange = undefined;
      this.#signal.removeEventListener("abort", wake);
    }
  }

  /** Whether a message waits for its turn. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  async send(messages: readonly StreamMessage[]): Promise<void> {
    if (messages.length === 0) return;
    await this.#terminal.stdout.writeExact(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  }

  async answer(id: string, response: object): Promise<void> {
    await this.send([{ type: "control_response", response: { subtype: "success", request_id: id, response } }]);
  }

  async refuse(id: string, error: string): Promise<void> {
    await this.send([{ type: "control_response", response: { subtype: "error", request_id: id, error } }]);
  }

  /** Asks the program; without an answer, the reason says why. Aborting the signal withdraws the question. */
  async ask(request: { readonly subtype: string }, signal: AbortSignal): Promise<ProgramAnswer> {
    this.#number += 1;
    const id = `cody-${this.#number}`;
    if (this.#isEnded) return noAnswer;
    let withdraw: (() => void) | undefined;
    const answered = new Promise<ProgramAnswer>((resolve) => {
      this.#asked.set(id, resolve);
      withdraw = () => resolve({ reason: "the question was withdrawn" });
      signal.addEventListener("abort", withdraw, { once: true });
    });
    try {
      await this.send([{ type: "control_request", request_id: id, request }]);
      const answer = await answered;
      if (signal.aborted) await this.send([{ type: "control_cancel_request", request_id: id }]);
      return answer;
    } finally {
      if (withdraw !== undefined) signal.removeEventListener("abort", withdraw);
      this.#asked.delete(id);
    }
  }

  /** Stops reading. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lines.return(undefined);
  }

  async #accept(input: StreamInput, handle: RequestHandler): Promise<void> {
    if (input.type === "user") {
      if (this.#waiting.length >= maxWaiting)
        throw usageError(`stdin: more than ${maxWaiting} messages wait for a turn`);
      this.#waiting.push(input);
      this.#onChange?.();
    }
    if (input.type === "control_request") await this.#request(input.request_id, input.request, handle);
    if (input.type !== "control_response") return;
    const { response } = input;
    const answer = response.subtype === "success" ? { response: response.response } : { reason: response.error };
    this.#asked.get(response.request_id)?.(answer);
  }

  async #request(id: string, request: unknown, handle: RequestHandler): Promise<void> {
    try {
      const known = parsed(StreamRequest, request, "control_request");
      if (known.subtype === "initialize") throw usageError("initialize came twice");
      await this.answer(id, await handle(known));
    } catch (error) {
      await this.refuse(id, errorMessage(error));
    }
  }

  async #read(): Promise<StreamInput | undefined> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) return undefined;
      const line = value.trim();
      if (line === "") continue;
      return parsed(StreamInput, jsonValue(line, "stdin"), "stdin");
    }
  }
}

/** The program's answer, or the reason why there is none. */
type ProgramAnswer = { readonly response: unknown } | { readonly reason: string };

const noAnswer: ProgramAnswer = { reason: "the program has closed cody's stdin, so it cannot answer" };
