import { connect } from "node:net";
import { InvalidInputError } from "../base/errors.js";
import { isRecord } from "../base/is-record.js";
import {
  controlProtocol,
  ControlReply,
  type ControlRequest,
  ControlWelcome,
  type RunningConversation,
} from "../messages/control.js";
import type { Event } from "../messages/event.js";
import { FailureError } from "../messages/failure-error.js";
import { version } from "../version.js";
import { MessageLines } from "./message-lines.js";

/** An event may have the whole output of a tool. */
const maxReplyBytes = 128 * 1024 * 1024;

const connectMs = 2_000;

/** Opening a conversation of many megabytes takes some seconds. */
const answerMs = 60_000;

/** Events that the caller has not taken; from this number on the connection is not read. */
const maxUnread = 1_000;

type Unnumbered<T> = T extends unknown ? Omit<T, "id"> : never;
type Answer = Exclude<ControlReply, { type: "welcome" | "refused" | "event" | "end" | "failed" }>;
/** The type of the answer to each request. */
interface AnswerTypes {
  list: "conversations";
  events: "subscribed";
  submit: "submitted";
  stop: "stopped";
  answer_approval: "answered";
  open: "opened";
  shutdown: "done";
}

export interface ReceivedEvent {
  readonly eventId: string;
  readonly event: Event;
}

interface Pending {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** The process has ended, or has closed the connection. */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";
}

/** A connection to the control socket of a process. */
export class ControlClient {
  readonly welcome: ControlWelcome;
  readonly #lines: MessageLines;
  readonly #pending = new Map<number, Pending>();
  readonly #streams = new Map<number, EventStream>();
  #lastId = 0;
  #lost: Error | undefined;

  private constructor(lines: MessageLines, welcome: ControlWelcome) {
    this.#lines = lines;
    this.welcome = welcome;
    void this.#read();
  }

  /** Rejects when nobody answers in time, or when the process does not serve this version. */
  static async connect(path: string): Promise<ControlClient> {
    const socket = connect({ path });
    const lines = new MessageLines(socket, maxReplyBytes);
    const deadline = setTimeout(() => lines.close(), connectMs);
    try {
      await lines.send({ type: "hello", protocol: controlProtocol, version });
      const { done, value } = await lines.next();
      if (done) throw new ConnectionLostError("the process does not answer");
      const reply = ControlReply.safeParse(value).data;
      if (reply?.type === "refused") throw new InvalidInputError(reply.message);
      const welcome = ControlWelcome.safeParse(value).data;
      if (welcome === undefined) throw new InvalidInputError("another version of cody: its answer is not understood");
      return new ControlClient(lines, welcome);
    } catch (error) {
      lines.close();
      throw error;
    } finally {
      clearTimeout(deadline);
    }
  }

  /** The conversations that are open in the process. */
  async list(): Promise<RunningConversation[]> {
    return (await this.ask({ type: "list" })).conversations;
  }

  /** Resolves with the answer; rejects with what the process reports, or when it does not answer in time. */
  async ask<R extends Unnumbered<ControlRequest>>(
    request: R,
  ): Promise<Extract<Answer, { type: AnswerTypes[R["type"]] }>> {
    return (await this.#send(++this.#lastId, request)) as Extract<Answer, { type: AnswerTypes[R["type"]] }>;
  }

  /** The events of a conversation; the iterator ends with the conversation, and throws when the process is lost. */
  async events(
    conversationId: string,
    since?: string,
  ): Promise<{ readonly conversation: RunningConversation; readonly events: AsyncIterableIterator<ReceivedEvent> }> {
    const id = ++this.#lastId;
    const stream = new EventStream();
    this.#streams.set(id, stream);
    const request = { type: "events", conversation_id: conversationId, ...(since !== undefined && { since }) } as const;
    const answer = (await this.#send(id, request)) as Extract<Answer, { type: "subscribed" }>;
    return { conversation: answer.conversation, events: stream };
  }

  close(): void {
    this.#lines.close();
  }

  async #send(id: number, request: Unnumbered<ControlRequest>): Promise<Answer> {
    if (this.#lost !== undefined) throw this.#lost;
    let deadline: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        const late = new ConnectionLostError(`pid ${this.welcome.pid} has not answered for ${answerMs / 1000} s`);
        deadline = setTimeout(() => reject(late), answerMs);
        void this.#lines.send({ id, ...request });
      });
    } finally {
      clearTimeout(deadline);
      this.#pending.delete(id);
    }
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done) return this.#end(new ConnectionLostError(`pid ${this.welcome.pid} has ended the connection`));
      const reply = ControlReply.safeParse(value);
      if (reply.success) await this.#receive(value as ControlReply);
      // An event of a newer version is of no use, but everything else is.
      else if (!isRecord(value) || value["type"] !== "event") {
        this.#lines.close();
        return this.#end(new InvalidInputError(`pid ${this.welcome.pid} sent a message that is not understood`));
      }
    }
  }

  async #receive(reply: ControlReply): Promise<void> {
    switch (reply.type) {
      case "welcome":
        return;
      case "refused":
        return this.#end(new InvalidInputError(reply.message));
      case "event":
        await this.#streams.get(reply.id)?.push({ eventId: reply.event_id, event: reply.event });
        return;
      case "end":
        this.#streams.get(reply.id)?.end();
        this.#streams.delete(reply.id);
        return;
      case "failed":
        return this.#pending
          .get(reply.id)
          ?.reject(new FailureError({ code: reply.code, message: reply.message, retryable: false }));
      default:
        this.#pending.get(reply.id)?.resolve(reply);
    }
  }

  #end(error: Error): void {
    this.#lost ??= error;
    for (const pending of this.#pending.values()) pending.reject(this.#lost);
    for (const stream of this.#streams.values()) stream.end(this.#lost);
    this.#streams.clear();
  }
}

/** The received events of one conversation. */
class EventStream implements AsyncIterableIterator<ReceivedEvent> {
  readonly #unread: ReceivedEvent[] = [];
  #isOver = false;
  #error: Error | undefined;
  #onChange: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  async push(event: ReceivedEvent): Promise<void> {
    this.#unread.push(event);
    this.#onChange?.();
    if (this.#unread.length < maxUnread || this.#isOver) return;
    await new Promise<void>((resolve) => (this.#onRoom = resolve));
  }

  end(error?: Error): void {
    this.#isOver = true;
    this.#error = error;
    this.#onChange?.();
    this.#onRoom?.();
  }

  async next(): Promise<IteratorResult<ReceivedEvent, undefined>> {
    while (this.#unread.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => (this.#onChange = resolve));
    }
    const event = this.#unread.shift();
    if (this.#unread.length < maxUnread) this.#onRoom?.();
    if (event !== undefined) return { done: false, value: event };
    if (this.#error !== undefined) throw this.#error;
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<ReceivedEvent, undefined>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
