import { v7 as uuidv7 } from "uuid";
import type {
  ConversationAnswers,
  ConversationMsg,
  ConversationOp,
  InputOp,
  MirrorChange,
  OpenConversation,
} from "../../messages/actors/conversation.js";
import { type Event, type EventMsg, isApprovalMsg } from "../../messages/event.js";
import { FailureError } from "../../messages/failure-error.js";
import type { ConversationServers } from "../mcp/conversation-servers.js";
import type { Ref } from "../runtime/actor.js";
import { EventQueue, type EventReader } from "../runtime/event-queue.js";
import { messageOf } from "../runtime/failures.js";
import { type DeltaMsg, deltaRuns, eventWeight, mergeDeltas, OpenApprovalEvents } from "./events.js";
import { ConversationMirror } from "./mirror.js";
import type { ConversationState } from "./state/state.js";
import { readStateNow } from "./store/load-rollout.js";

/** Time limit for ending the turn and saving on shutdown. */
const shutdownMs = 15_000;

/** How often a conversation is opened elsewhere in a row while threads die. */
const maxRecoveries = 5;

/** The longest delay that a timer of Node can have. */
const longestTimerMs = 2 ** 31 - 1;

/** Receives what a conversation publishes, in order. */
export interface EventSink {
  publish(msg: ConversationMsg, submissionId: string): void;
  /** Resolves when the lossless readers can take more events; undefined when they can now. */
  room(): Promise<void> | undefined;
  /** Called once, when the actor has failed for good and its last event is published. */
  failed(): void;
  /** Called once, when the actor has ended without a trace. With a reason, it is not opened again. */
  lost(reason?: string): void;
}

/** The handle's end of a sink, which also takes several deltas at once. */
export interface HandleSink extends EventSink {
  /** Publishes a delta, and for each text one that differs only in its text. */
  publishRun(first: DeltaMsg, texts: readonly string[], submissionId: string): void;
}

/** The way to a conversation's actor, in this thread or another. */
export interface ConversationLink {
  readonly ref: Ref<ConversationOp, ConversationAnswers>;
  readonly servers: ConversationServers | undefined;
  /** The state of the conversation. It is read at once, so that it may block the caller. */
  state(): Readonly<ConversationState>;
  /** Ends the actor and releases its rollout and servers. */
  close(): Promise<void>;
}

type Resumption = Extract<OpenConversation, { mode: "resume" }>;

type OpenedChange = Extract<MirrorChange, { type: "opened" }>;

interface ChannelListener {
  onEvent(event: Event): void;
  /** Called for a delta, and the texts of those that follow it. */
  onRun(first: Event, texts: readonly string[]): void;
  /** Called once, when the conversation has ended. */
  onEnd(): void;
  /** Opens a conversation that sleeps. */
  reopen(request: Resumption, sink: HandleSink): Promise<ConversationLink | undefined>;
}

/**
 * The handle's side of a conversation: it numbers the events, keeps the readers and the mirror, and knows which inputs
 * have not begun. It stays the same while the actor behind it sleeps or is replaced.
 */
export class ConversationChannel {
  readonly id: string;
  /** The time of the last submission or event. */
  lastActiveAt = performance.now();
  readonly #listener: ChannelListener;
  readonly #requests: OpenApprovalEvents<Event>;
  readonly #queue: EventQueue<Event>;
  /** Inputs whose turn has not begun, by submission. */
  readonly #inputs = new Map<string, InputOp>();
  #mirror: ConversationMirror | undefined;
  /** Absent while it sleeps, and before it is opened. */
  #link: ConversationLink | undefined;
  #sink: LinkSink | undefined;
  /** Set while the conversation falls asleep or wakes up. */
  #changing: Promise<unknown> | undefined;
  /** Number of asks without an answer. */
  #asks = 0;
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

  /** Opens the conversation behind the channel with a function that may open none. */
  async open<Link extends ConversationLink>(
    openLink: (sink: HandleSink) => Promise<Link | undefined>,
  ): Promise<Link | undefined> {
    const sink = new LinkSink(this);
    const link = await openLink(sink);
    this.#sink = sink;
    this.#link = link;
    return link;
  }

  get mirror(): ConversationMirror {
    if (this.#mirror === undefined) throw new Error(`conversation ${this.id} is not open yet`);
    return this.#mirror;
  }

  get isAwake(): boolean {
    return this.#link !== undefined;
  }

  get servers(): ConversationServers | undefined {
    return this.#link?.servers;
  }

  /** The state of the conversation. While it sleeps it is read from the rollout, which blocks the thread. */
  state(): Readonly<ConversationState> {
    if (this.#link !== undefined) return this.#link.state();
    const { rolloutPath } = this.mirror;
    if (rolloutPath === null) throw endedFailure(this.id);
    return readStateNow(rolloutPath, this.id);
  }

  /** Resolves with the submission's id when the conversation has accepted the op. */
  async submit(op: ConversationOp): Promise<string> {
    const id = uuidv7();
    // Neither needs a conversation that is awake.
    if (op.type === "interrupt" && !this.isAwake && this.#changing === undefined) return id;
    if (op.type === "shutdown" && !this.isAwake && this.#changing === undefined) {
      void this.shutdown();
      return id;
    }
    const input = op.type === "user_input" || op.type === "user_turn" ? op : undefined;
    try {
      const send = async (link: ConversationLink): Promise<unknown> => {
        // Not earlier: the recovery of a lost conversation sends every input that it finds.
        if (input !== undefined) this.#inputs.set(id, input);
        return await link.ref.tell(op, id);
      };
      await this.#repeated(send, input === undefined);
      return id;
    } catch (error) {
      this.#inputs.delete(id);
      throw error;
    }
  }

  /**
   * Sends something to the conversation, and again when its thread has died before it answered. An input is repeated by
   * the recovery.
   */
  async #repeated<T>(send: (link: ConversationLink) => Promise<T>, mayRepeat: boolean): Promise<T | undefined> {
    for (;;) {
      const link = await this.#connected();
      try {
        return await send(link);
      } catch (error) {
        if (!(error instanceof FailureError) || error.code !== "thread_died") throw error;
        if (!mayRepeat) return undefined;
      }
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
    const ask = async ({ ref }: ConversationLink): Promise<ConversationAnswers[T]> => {
      this.#asks += 1;
      try {
        return (await ref.ask(op, signal, id)) as ConversationAnswers[T];
      } finally {
        this.#asks -= 1;
      }
    };
    // Undoing twice would undo two turns.
    const answer =
      (op as ConversationOp).type === "undo" ? await ask(await this.#connected()) : await this.#repeated(ask, true);
    return { id, answer: answer as ConversationAnswers[T] };
  }

  /** Tells the conversation something that concerns only its present opening; without one it is dropped. */
  tell(op: ConversationOp): void {
    void this.#link?.ref.tell(op, "").catch(() => undefined);
  }

  /** Resolves when the conversation is awake. */
  async wake(): Promise<void> {
    await this.#connected();
  }

  /**
   * Closes an idle conversation: its rollout is released, and so is the memory of its actor. The next submission opens
   * it again. Returns whether it sleeps now.
   */
  async sleep(): Promise<boolean> {
    const link = this.#link;
    const isBusy = this.#changing !== undefined || this.#ending !== undefined || this.#asks > 0;
    if (link === undefined || isBusy) return false;
    const falling = this.#fallAsleep(link).finally(() => (this.#changing = undefined));
    this.#changing = falling;
    return await falling;
  }

  async #fallAsleep(link: ConversationLink): Promise<boolean> {
    const answer = await link.ref.ask({ type: "sleep" }).catch(() => undefined);
    if (answer?.status !== "asleep") return false;
    // The turn that waits for an approval ends without a trace; it continues when the conversation wakes.
    this.#sink?.mute();
    await link.close();
    this.#link = undefined;
    this.#queue.release();
    if (answer.wakeAfterMs !== undefined) this.#wakeLater(answer.wakeAfterMs);
    return true;
  }

  /** Wakes a conversation whose approval request times out. If that fails, the next submission tries again. */
  #wakeLater(ms: number): void {
    setTimeout(() => void this.wake().catch(() => undefined), Math.min(ms, longestTimerMs)).unref();
  }

  async #connected(): Promise<ConversationLink> {
    this.lastActiveAt = performance.now();
    while (this.#changing !== undefined) await this.#changing.catch(() => undefined);
    if (this.#link !== undefined) return this.#link;
    if (this.#mirror === undefined || this.#ending !== undefined) throw endedFailure(this.id);
    const waking = this.#wake(this.#mirror).finally(() => (this.#changing = undefined));
    this.#changing = waking;
    return await waking;
  }

  async #wake({ settings, approvedCommands }: ConversationMirror): Promise<ConversationLink> {
    const reopening = { settings, approvedCommands: [...approvedCommands] };
    const request = { mode: "resume" as const, conversationId: this.id, config: {}, reopening };
    const link = await this.open((sink) => this.#listener.reopen(request, sink));
    if (link === undefined) throw new Error(`conversation ${this.id} cannot be opened again`);
    return link;
  }

  /** Called when the actor has ended without a trace, with its thread. */
  lost(reason: string | undefined): void {
    if (this.#link === undefined || this.#ending !== undefined) return;
    this.#sink?.mute();
    this.#link = undefined;
    if (reason !== undefined) return this.#giveUp(reason);
    const recovery = this.#recover().finally(() => (this.#changing = undefined));
    recovery.catch(() => undefined);
    this.#changing = recovery;
  }

  /** Opens the conversation elsewhere: its open turn is ended there, and inputs that had not begun are sent again. */
  async #recover(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const link = await this.#wake(this.mirror);
        for (const [id, op] of this.#inputs) await link.ref.tell(op, id).catch(() => undefined);
        return;
      } catch (error) {
        const isLostAgain = error instanceof FailureError && error.code === "thread_died";
        if (isLostAgain && attempt < maxRecoveries) continue;
        const reason = messageOf(error);
        return this.#endLost(`the conversation was lost with its thread and cannot be opened again: ${reason}`);
      }
    }
  }

  #giveUp(reason: string): void {
    this.publish({ type: "error", message: reason, codex_error_info: "thread_died" }, "");
    this.#endLost(reason);
    this.#ending ??= this.#end();
  }

  /** Ends the open turn and the inputs that had not begun for their readers. */
  #endLost(message: string): void {
    const { openTurn } = this.mirror;
    if (openTurn !== undefined)
      this.publish({ type: "turn_aborted", turn_id: openTurn, reason: "interrupted" }, openTurn);
    for (const id of this.#inputs.keys()) this.publish({ type: "error", message, codex_error_info: "thread_died" }, id);
  }

  reader(options: { readonly since?: number }): EventReader<Event> {
    return this.#queue.reader(options);
  }

  publish(msg: ConversationMsg, submissionId: string): void {
    this.lastActiveAt = performance.now();
    // A conversation that was opened again asks again; the readers know the request already.
    if (msg.type !== "mirror" && isApprovalMsg(msg) && this.#isAsked(msg.approval_id)) return;
    this.#follow(msg, submissionId);
    if (msg.type === "mirror") return;
    const event = this.#event(msg, submissionId, this.#seq++);
    this.#requests.note(event);
    this.#listener.onEvent(event);
    this.#queue.publish(event);
    // Whatever caused the shutdown, no event follows this one.
    if (msg.type === "shutdown_complete") this.#ending ??= this.#end();
  }

  publishRun(first: DeltaMsg, texts: readonly string[], submissionId: string): void {
    this.lastActiveAt = performance.now();
    this.#mirror?.apply({ ...first, delta: first.delta + texts.join("") }, submissionId, []);
    const event = this.#event(first, submissionId, this.#seq);
    this.#seq += 1 + texts.length;
    this.#listener.onRun(event, texts);
    this.#queue.publishRun(event, texts);
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
    while (this.#changing !== undefined) await this.#changing.catch(() => undefined);
    // A conversation that cannot end its turn in time is ended anyway: its recorded lines are with the writer.
    await this.#link?.ref.ask({ type: "shutdown" }, AbortSignal.timeout(shutdownMs)).catch(() => undefined);
    if (this.#link === undefined) this.publish({ type: "shutdown_complete" }, "");
    await this.#end();
  }

  async #end(): Promise<void> {
    await this.#link?.close();
    this.#queue.close();
    this.#listener.onEnd();
  }

  #isAsked(approvalId: string): boolean {
    return this.#requests.all().some(({ msg }) => isApprovalMsg(msg) && msg.approval_id === approvalId);
  }

  #follow(msg: ConversationMsg, submissionId: string): void {
    const input = this.#inputs.get(submissionId)?.items ?? [];
    if (msg.type === "mirror" && msg.change.type === "opened") {
      if (this.#mirror === undefined) this.#mirror = new ConversationMirror(msg.change);
      else this.#announceEnd(this.#mirror.openTurn, msg.change);
    }
    this.#mirror?.apply(msg, submissionId, input);
    // An error before the turn has begun refuses the input.
    if (msg.type === "task_started" || msg.type === "error") this.#inputs.delete(submissionId);
  }

  /** Publishes the end of a turn that was recorded before the actor was lost, or never will be. */
  #announceEnd(openTurn: string | undefined, { openTurn: stillOpen, lastEnd }: OpenedChange): void {
    const ended = lastEnd?.type === "task_complete" || lastEnd?.type === "turn_aborted" ? lastEnd : undefined;
    const endedId = ended?.turn_id ?? undefined;
    if (ended !== undefined && endedId !== undefined && (endedId === openTurn || this.#inputs.has(endedId))) {
      this.publish({ ...ended, saved: true }, endedId);
    } else if (openTurn !== undefined && openTurn !== stillOpen) {
      this.publish({ type: "turn_aborted", turn_id: openTurn, reason: "interrupted" }, openTurn);
    }
    // Begun, so that the conversation ends or continues it.
    for (const id of [endedId, stillOpen]) if (id !== undefined) this.#inputs.delete(id);
  }

  #event(msg: EventMsg, id: string, seq: number): Event {
    return { id, seq, conversation_id: this.id, msg };
  }
}

/** Passes on what one opening of a conversation publishes, until it is muted. */
class LinkSink implements HandleSink {
  readonly #channel: ConversationChannel;
  #isMuted = false;

  constructor(channel: ConversationChannel) {
    this.#channel = channel;
  }

  mute(): void {
    this.#isMuted = true;
  }

  publish(msg: ConversationMsg, submissionId: string): void {
    if (!this.#isMuted) this.#channel.publish(msg, submissionId);
  }

  publishRun(first: DeltaMsg, texts: readonly string[], submissionId: string): void {
    if (!this.#isMuted) this.#channel.publishRun(first, texts, submissionId);
  }

  room(): Promise<void> | undefined {
    return this.#channel.room();
  }

  failed(): void {
    if (!this.#isMuted) this.#channel.failed();
  }

  lost(reason?: string): void {
    if (!this.#isMuted) this.#channel.lost(reason);
  }
}

function endedFailure(conversationId: string): FailureError {
  return new FailureError({
    code: "actor_stopped",
    message: `conversation ${conversationId} has ended`,
    retryable: false,
  });
}
