import { v7 as uuidv7 } from "uuid";
import type {
  ConversationAnswers,
  ConversationMsg,
  ConversationOp,
  InputOp,
  MirrorChange,
  OpenConversation,
  SleepMemory,
} from "../../messages/actors/conversation.js";
import { type Event, type EventMsg, isApprovalMsg } from "../../messages/event.js";
import { FailureError } from "../../messages/failure-error.js";
import type { ConversationServers } from "../mcp/conversation-servers.js";
import { HandleServers } from "../mcp/handle-servers.js";
import type { Ref } from "../runtime/actor.js";
import { EventQueue, type EventReader, type EventSource } from "../runtime/event-queue.js";
import { messageOf } from "../runtime/failures.js";
import { conversationEvents, OpenApprovalEvents } from "./events.js";
import { ConversationMirror, shareSettings } from "./mirror.js";
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

/** The way to a conversation's actor, in this thread or another. */
export interface ConversationLink {
  readonly ref: Ref<ConversationOp, ConversationAnswers>;
  /** The state of the conversation. It is read at once, so that it may block the caller. */
  state(): Readonly<ConversationState>;
  /** Ends the actor and releases its rollout and servers. */
  close(): Promise<void>;
}

type Resumption = Extract<OpenConversation, { mode: "resume" }>;

type OpenedChange = Extract<MirrorChange, { type: "opened" }>;

/** The manager of many channels. */
export interface ChannelListener {
  onEvent(event: Event): void;
  onAsleep(channel: ConversationChannel): void;
  /** Called once, when the conversation has ended. */
  onEnd(channel: ConversationChannel): void;
  /** Opens a conversation that sleeps. */
  reopen(channel: ConversationChannel, request: Resumption, sink: EventSink): Promise<ConversationLink | undefined>;
  /** Leases the MCP servers of a project in this thread. */
  openServers(root: string): Promise<ConversationServers | undefined>;
}

const noInputs: ReadonlyMap<string, InputOp> = new Map();

/**
 * The handle's side of a conversation: it numbers the events, keeps the readers and the mirror, and knows which inputs
 * have not begun. It stays the same while the actor behind it sleeps or is replaced.
 *
 * A process may have 100,000 that sleep, so what a sleeping one does not need is created on first use.
 */
export class ConversationChannel implements EventSource<Event> {
  readonly id: string;
  /** The time of the last submission or event. */
  lastActiveAt = performance.now();
  readonly #listener: ChannelListener;
  /** Absent until an approval is requested. */
  #requests: OpenApprovalEvents<Event> | undefined;
  readonly #queue: EventQueue<Event>;
  /** Inputs whose turn has not begun, by submission. */
  #inputs = noInputs;
  #mirror: ConversationMirror | undefined;
  /** Absent while it sleeps, and before it is opened. */
  #link: ConversationLink | undefined;
  /** Set while it sleeps. */
  #memory: SleepMemory | undefined;
  #sink: LinkSink | undefined;
  /** Created when they are first asked for. */
  #servers: HandleServers | undefined;
  /** Set while the conversation falls asleep or wakes up. */
  #changing: Promise<unknown> | undefined;
  /** Number of asks without an answer. */
  #asks = 0;
  #seq = 0;
  #ending: Promise<void> | undefined;

  constructor(id: string, listener: ChannelListener) {
    this.id = id;
    this.#listener = listener;
    this.#queue = new EventQueue<Event>(conversationEvents, this);
  }

  /** Opens the conversation behind the channel with a function that may open none. */
  async open<Link extends ConversationLink>(
    openLink: (sink: EventSink) => Promise<Link | undefined>,
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

  /** Its MCP servers; undefined when it has none. */
  get servers(): HandleServers | undefined {
    if (this.mirror.servers === undefined) return undefined;
    this.#servers ??= new HandleServers({
      used: () => this.mirror.servers,
      isAwake: () => this.isAwake && this.#changing === undefined && this.#ending === undefined,
      awake: (work) => this.#whileAwake(work),
      open: (root) => this.#listener.openServers(root),
    });
    return this.#servers;
  }

  /** Wakes the conversation, which does not fall asleep before the work is done. */
  async #whileAwake<T>(work: () => Promise<T>): Promise<T> {
    await this.#connected();
    this.#asks += 1;
    try {
      return await work();
    } finally {
      this.#asks -= 1;
    }
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
    const hasTurn = this.#mirror?.openTurn !== undefined;
    if (op.type === "interrupt" && !hasTurn && !this.isAwake && this.#changing === undefined) return id;
    if (op.type === "shutdown" && !this.isAwake && this.#changing === undefined) {
      void this.shutdown();
      return id;
    }
    const input = op.type === "user_input" || op.type === "user_turn" ? op : undefined;
    try {
      const send = async (link: ConversationLink): Promise<unknown> => {
        // Not earlier: the recovery of a lost conversation sends every input that it finds.
        if (input !== undefined) this.#inputs = new Map([...this.#inputs, [id, input]]);
        return await link.ref.tell(op, id);
      };
      await this.#repeated(send, input === undefined);
      return id;
    } catch (error) {
      this.#forgetInput(id);
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
    await Promise.all([link.close(), this.#servers?.release()]);
    this.#link = undefined;
    this.#sink = undefined;
    this.#queue.release();
    this.#mirror?.release();
    this.#memory = shareMemory(answer.memory);
    this.#listener.onAsleep(this);
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
    const memory = this.#memory;
    const reopening = { settings, approvedCommands: [...approvedCommands], ...(memory && { memory }) };
    const request = { mode: "resume" as const, conversationId: this.id, config: {}, reopening };
    const link = await this.open((sink) => this.#listener.reopen(this, request, sink));
    if (link === undefined) throw new Error(`conversation ${this.id} cannot be opened again`);
    this.#memory = undefined;
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
    if (isApprovalMsg(msg)) this.#noteRequest(event);
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
    while (this.#changing !== undefined) await this.#changing.catch(() => undefined);
    // A turn that waits for an approval is aborted, as if the conversation were awake.
    const hasTurn = this.#mirror?.openTurn !== undefined;
    if (this.#link === undefined && hasTurn) await this.#wake(this.mirror).catch(() => undefined);
    // A conversation that cannot end its turn in time is ended anyway: its recorded lines are with the writer.
    await this.#link?.ref.ask({ type: "shutdown" }, AbortSignal.timeout(shutdownMs)).catch(() => undefined);
    if (this.#link === undefined) this.publish({ type: "shutdown_complete" }, "");
    await this.#end();
  }

  async #end(): Promise<void> {
    await Promise.all([this.#link?.close(), this.#servers?.release()]);
    this.#queue.close();
    this.#listener.onEnd(this);
  }

  lagged(from: number, to: number): Event {
    return this.#event({ type: "lagged", from, to }, "", to);
  }

  /** The approval requests that are still open. */
  onLagged(): readonly Event[] {
    return this.#requests?.all() ?? [];
  }

  #noteRequest(request: Event): void {
    this.#requests ??= new OpenApprovalEvents<Event>(
      (event) => event,
      (_, callId) => this.#mirror?.awaitsApproval(callId) ?? false,
    );
    this.#requests.note(request);
  }

  #isAsked(approvalId: string): boolean {
    return this.onLagged().some(({ msg }) => isApprovalMsg(msg) && msg.approval_id === approvalId);
  }

  #follow(msg: ConversationMsg, submissionId: string): void {
    const input = this.#inputs.get(submissionId)?.items ?? [];
    if (msg.type === "mirror" && msg.change.type === "opened") {
      if (this.#mirror === undefined) this.#mirror = new ConversationMirror(msg.change);
      else this.#announceEnd(this.#mirror.openTurn, msg.change);
    }
    this.#mirror?.apply(msg, submissionId, input);
    // An error before the turn has begun refuses the input.
    if (msg.type === "task_started" || msg.type === "error") this.#forgetInput(submissionId);
  }

  #forgetInput(id: string): void {
    if (!this.#inputs.has(id)) return;
    const others = [...this.#inputs].filter(([other]) => other !== id);
    this.#inputs = others.length === 0 ? noInputs : new Map(others);
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
    for (const id of [endedId, stillOpen]) if (id !== undefined) this.#forgetInput(id);
  }

  #event(msg: EventMsg, id: string, seq: number): Event {
    return { id, seq, conversation_id: this.id, msg };
  }
}

/** Passes on what one opening of a conversation publishes, until it is muted. */
class LinkSink implements EventSink {
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

function shareMemory(memory: SleepMemory): SleepMemory {
  const { previousSettings: settings } = memory;
  return settings === undefined ? memory : { ...memory, previousSettings: shareSettings(settings) };
}

function endedFailure(conversationId: string): FailureError {
  return new FailureError({
    code: "actor_stopped",
    message: `conversation ${conversationId} has ended`,
    retryable: false,
  });
}
