import { v7 as uuidv7 } from "uuid";
import type {
  ConversationAnswers,
  ConversationMsg,
  ConversationOp,
  InputOp,
} from "../../messages/actors/conversation.js";
import type { Event, EventMsg } from "../../messages/event.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Ref } from "../runtime/actor.js";
import { EventQueue, type EventReader } from "../runtime/event-queue.js";
import { deltaRuns, eventWeight, mergeDeltas, OpenApprovalEvents } from "./events.js";
import { ConversationMirror } from "./mirror.js";
import type { ConversationState } from "./state/state.js";

/** Time limit for ending the turn and saving on shutdown. */
const shutdownMs = 15_000;

/** Receives what a conversation publishes, in order. */
export interface EventSink {
  publish(msg: ConversationMsg, submissionId: string): void;
  /** Resolves when the lossless readers can take more events; undefined when they can now. */
  room(): Promise<void> | undefined;
  /** Called once, when the actor has failed for good and its last event is published. */
  failed(): void;
}

/** The way to a conversation's actor, in this thread or another. */
export interface ConversationLink {
  readonly ref: Ref<ConversationOp, ConversationAnswers>;
  /** The state of the conversation. It is read at once, so that it may block the caller. */
  state(): Readonly<ConversationState>;
  /** Ends the actor and releases its rollout and servers. */
  close(): Promise<void>;
}

interface ChannelListener {
  onEvent(event: Event): void;
  /** Called once, when the conversation has ended. */
  onEnd(): void;
}

/**
 * The handle's side of a conversation: it numbers the events, keeps the readers and the mirror, and knows which inputs
 * have not begun. It stays the same while the actor behind it is replaced.
 */
export class ConversationChannel implements EventSink {
  readonly id: string;
  readonly #listener: ChannelListener;
  readonly #requests: OpenApprovalEvents<Event>;
  readonly #queue: EventQueue<Event>;
  /** Inputs whose turn has not begun, by submission. */
  readonly #inputs = new Map<string, InputOp>();
  #mirror: ConversationMirror | undefined;
  #link: ConversationLink | undefined;
  #seq = 0;
  #ending: Promise<void> | undefined;

  constructor(id: string, listener: ChannelListener) {
    this.id = id;
    this.#listener = listener;
    this.#requests = new OpenApprovalEvents<Event>(
      (request) => request,
      (_, callId) => this.#mirror?.awaitsApproval(callId) ?? false,
    );
    this.#queue = new EventQueue<Event>({
      merge: mergeDeltas,
      runs: deltaRuns,
      weigh: eventWeight,
      lagged: (from, to) => this.#event({ type: "lagged", from, to }, "", to),
      onLagged: () => this.#requests.all(),
    });
  }

  /** Connects the channel to the opened conversation, which has published its first message already. */
  attach(link: ConversationLink): void {
    this.#link = link;
  }

  get mirror(): ConversationMirror {
    if (this.#mirror === undefined) throw new Error(`conversation ${this.id} is not open yet`);
    return this.#mirror;
  }

  /** The state of the conversation. For one in another thread it is read from the rollout, which blocks. */
  state(): Readonly<ConversationState> {
    return this.#opened().state();
  }

  /** Resolves with the submission's id when the conversation has accepted the op. */
  async submit(op: ConversationOp): Promise<string> {
    const id = uuidv7();
    if (op.type === "user_input" || op.type === "user_turn") this.#inputs.set(id, op);
    try {
      return await this.#opened().ref.tell(op, id);
    } catch (error) {
      this.#inputs.delete(id);
      throw error;
    }
  }

  async ask<T extends keyof ConversationAnswers>(
    op: Extract<ConversationOp, { type: T }>,
    signal?: AbortSignal,
  ): Promise<ConversationAnswers[T]> {
    return (await this.askAs(op, signal)).answer;
  }

  /** Resolves with the answer and the submission's id, which its events carry. */
  async askAs<T extends keyof ConversationAnswers>(
    op: Extract<ConversationOp, { type: T }>,
    signal?: AbortSignal,
  ): Promise<{ readonly id: string; readonly answer: ConversationAnswers[T] }> {
    const id = uuidv7();
    const answer = await this.#opened().ref.ask(op, signal, id);
    return { id, answer: answer as ConversationAnswers[T] };
  }

  reader(options: { readonly since?: number }): EventReader<Event> {
    return this.#queue.reader(options);
  }

  publish(msg: ConversationMsg, submissionId: string): void {
    this.#follow(msg, submissionId);
    if (msg.type === "mirror") return;
    const event = this.#event(msg, submissionId, this.#seq++);
    this.#requests.note(event);
    this.#listener.onEvent(event);
    this.#queue.publish(event);
    // Whatever caused the shutdown, no event follows this one.
    if (msg.type === "shutdown_complete") this.#ending ??= this.#end();
  }

  room(): Promise<void> | undefined {
    return this.#queue.room();
  }

  failed(): void {
    this.#ending ??= this.#end();
  }

  /** Resolves when the conversation has ended; undefined unless it is ending. */
  get ending(): Promise<void> | undefined {
    return this.#ending;
  }

  shutdown(): Promise<void> {
    this.#ending ??= this.#shutDown();
    return this.#ending;
  }

  async #shutDown(): Promise<void> {
    // A conversation that cannot end its turn in time is ended anyway: its recorded lines are with the writer.
    await this.#link?.ref.ask({ type: "shutdown" }, AbortSignal.timeout(shutdownMs)).catch(() => undefined);
    await this.#end();
  }

  async #end(): Promise<void> {
    await this.#link?.close();
    this.#queue.close();
    this.#listener.onEnd();
  }

  #follow(msg: ConversationMsg, submissionId: string): void {
    const input = this.#inputs.get(submissionId)?.items ?? [];
    if (msg.type === "mirror" && msg.change.type === "opened") this.#mirror ??= new ConversationMirror(msg.change);
    this.#mirror?.apply(msg, submissionId, input);
    // An error before the turn has begun refuses the input.
    if (msg.type === "task_started" || msg.type === "error") this.#inputs.delete(submissionId);
  }

  #event(msg: EventMsg, id: string, seq: number): Event {
    return { id, seq, conversation_id: this.id, msg };
  }

  #opened(): ConversationLink {
    if (this.#link !== undefined) return this.#link;
    const message = `conversation ${this.id} is not open`;
    throw new FailureError({ code: "actor_stopped", message, retryable: false });
  }
}
