import { v7 as uuidv7 } from "uuid";
import type {
  ConversationAnswers,
  ConversationMsg,
  ConversationOp,
  InputAnswer,
  InputOp,
  MirrorChange,
  OpenConversation,
  SleepMemory,
} from "../../messages/actors/conversation.js";
import { errorMessage } from "../../base/error-message.js";
import { type Event, type EventMsg, isApprovalMsg } from "../../messages/event.js";
import { FailureError } from "../../messages/failure-error.js";
import type { ReviewDecision } from "../../messages/tools/approval.js";
import type { ConversationServers } from "../mcp/conversation-servers.js";
import { HandleServers } from "../mcp/handle-servers.js";
import type { Ref } from "../runtime/actor.js";
import { EventQueue, type EventReader, type EventSource } from "../runtime/event-queue.js";
import { conversationEvents, type DeltaMsg, isDeltaMsg, OpenApprovalEvents } from "./events.js";
import { ConversationMirror, shareSettings } from "./mirror.js";
import type { ConversationState } from "./state/state.js";
import { readStateNow } from "./store/load-rollout.js";

/** Time limit for ending the turn and saving on shutdown. */
const shutdownMs = 15_000;

/** The longest delay that a timer of Node can have. */
const longestTimerMs = 2 ** 31 - 1;

const nothing: readonly never[] = [];

/** Receives what a conversation publishes, in order. */
export interface EventSink {
  publish(msg: ConversationMsg, submissionId: string): void;
  /** Resolves when the lossless readers can take more events; undefined when they can now. */
  room(): Promise<void> | undefined;
  /** Called once, when the actor has failed for good and its last event is published. */
  failed(): void;
  /** Called once, when the actor has ended without a trace. With a reason, it is not opened again. */
  lost(reason?: string): void;
  /** Called when the actor has something to do, and when it has nothing left to do. */
  readonly active?: (isActive: boolean) => void;
}

/** The handle's end of a sink, which also takes several deltas at once. */
export interface HandleSink extends EventSink {
  /** Publishes a delta, and for each text one that differs only in its text. */
  publishRun(first: DeltaMsg, texts: readonly string[], submissionId: string): void;
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

/** Submissions that wait in the conversation, and are sent again when it is lost with its thread. */
type WaitingOp = InputOp | Extract<ConversationOp, { type: "pin" | "override_turn_context" }>;

type ApprovalOp = Extract<ConversationOp, { type: "exec_approval" | "patch_approval" }>;

type TurnEnd = Extract<EventMsg, { type: "task_complete" | "turn_aborted" }>;

type OpenedChange = Extract<MirrorChange, { type: "opened" }>;

/** The manager of many channels. */
export interface ChannelListener {
  onEvent(event: Event): void;
  /** Called for a delta, and the texts of those that follow it. */
  onRun(first: Event, texts: readonly string[]): void;
  onAsleep(channel: ConversationChannel): void;
  /** Called once, when the conversation has ended. */
  onEnd(channel: ConversationChannel): void;
  /** Opens a conversation that sleeps. */
  reopen(channel: ConversationChannel, request: Resumption, sink: HandleSink): Promise<ConversationLink | undefined>;
  /** Leases the MCP servers of a project in this thread. */
  openServers(root: string): Promise<ConversationServers | undefined>;
}

/**
 * The handle's side of a conversation: it numbers the events, keeps the readers and the mirror, and knows which inputs
 * have not begun. It stays the same while the actor behind it sleeps or is replaced.
 *
 * A process may have 100,000 that sleep, so what a sleeping one does not need is created on first use.
 */
export class ConversationChannel implements EventSource<Event> {
  readonly id: string;
  /** The time of the last submission, or event that is not a delta. */
  lastActiveAt = performance.now();
  readonly #listener: ChannelListener;
  /** Absent until an approval is requested. */
  #requests: OpenApprovalEvents<Event> | undefined;
  readonly #queue: EventQueue<Event>;
  /** Submissions without an effect so far: for an input, its turn has not begun. */
  #waiting: Map<string, WaitingOp> | undefined;
  /** The answers to approval requests of the open turn. If one is lost before it is written, it is sent again. */
  #decisions: Map<string, ApprovalOp> | undefined;
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
  /** Whether the conversation has published its last event, so that it is not opened again. */
  #isOver = false;
  /** Turns that have ended for the readers, but perhaps not in the file: the next opening would end them again. */
  #unsavedEnds: Set<string> | undefined;

  constructor(id: string, listener: ChannelListener) {
    this.id = id;
    this.#listener = listener;
    this.#queue = new EventQueue<Event>(conversationEvents, this);
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

  /**
   * Submits an input, and resolves with the conversation's answer. It may be sent twice when its thread dies: the
   * conversation recognizes it.
   */
  async submitInput(op: InputOp): Promise<InputAnswer> {
    const id = uuidv7();
    const send = async (link: ConversationLink): Promise<InputAnswer> => {
      (this.#waiting ??= new Map()).set(id, op);
      return (await this.#askLink(link, op, undefined, id)) as InputAnswer;
    };
    let isAccepted = false;
    try {
      const answer = (await this.#repeated(send, true)) as InputAnswer;
      isAccepted = answer.status === "accepted";
      return answer;
    } finally {
      if (!isAccepted) this.#waiting?.delete(id);
    }
  }

  /** Resolves with the submission's id when the conversation has accepted the op. */
  async submit(op: ConversationOp): Promise<string> {
    const id = uuidv7();
    // An idle conversation need not be opened for it.
    const hasTurn = this.#mirror?.openTurn !== undefined;
    if (op.type === "interrupt" && !hasTurn && !this.isAwake && this.#changing === undefined) return id;
    if (op.type === "shutdown") {
      this.#ending ??= this.#shutDown(id);
      return id;
    }
    const waiting = isWaitingOp(op) ? op : undefined;
    try {
      const send = async (link: ConversationLink): Promise<unknown> => {
        // Not earlier: the recovery of a lost conversation sends everything that it finds.
        if (waiting !== undefined) (this.#waiting ??= new Map()).set(id, waiting);
        return await link.ref.tell(op, id);
      };
      await this.#repeated(send, waiting === undefined);
      return id;
    } catch (error) {
      this.#waiting?.delete(id);
      throw error;
    }
  }

  /**
   * Sends something to the conversation, and again when its thread has died before it answered. What waits in the
   * conversation is repeated by the recovery.
   */
  async #repeated<T>(send: (link: ConversationLink) => Promise<T>, mayRepeat: boolean): Promise<T | undefined> {
    for (;;) {
      const link = await this.#connected();
      try {
        return await send(link);
      } catch (error) {
        if (!(error instanceof FailureError) || error.code !== "thread_died") throw error;
        if (this.#isOver) throw endedFailure(this.id);
        if (this.#link === link) throw error;
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
    const ask = (link: ConversationLink): Promise<unknown> => this.#askLink(link, op, signal, id);
    // Undoing twice would undo two turns.
    const answer =
      (op as ConversationOp).type === "undo" ? await ask(await this.#connected()) : await this.#repeated(ask, true);
    return { id, answer: answer as ConversationAnswers[T] };
  }

  async #askLink({ ref }: ConversationLink, op: ConversationOp, signal: AbortSignal | undefined, id: string) {
    this.#asks += 1;
    try {
      return await ref.ask(op, signal, id);
    } finally {
      this.#asks -= 1;
    }
  }

  /** Answers an approval request; resolves with the submission's id and whether there was such a request. */
  async decide(
    op: ApprovalOp,
  ): Promise<{ readonly id: string; readonly answer: ConversationAnswers["exec_approval"] }> {
    const requested = op.approval_id ?? op.id ?? "";
    const isMeant = ({ msg }: Event): boolean => isApprovalMsg(msg) && msg.call_id === requested;
    const request = this.onLagged().find(isMeant)?.msg;
    const approvalId = request !== undefined && isApprovalMsg(request) ? request.approval_id : requested;
    const answered = await this.askAs<"exec_approval" | "patch_approval">(op);
    if (answered.answer.status === "answered") (this.#decisions ??= new Map()).set(approvalId, op);
    return answered;
  }

  /** Answers an approval request; resolves when the turn has applied the decision, or cannot any more. */
  async answerApproval(approvalId: string, decision: ReviewDecision): Promise<ConversationAnswers["answer_approval"]> {
    const answer = await this.ask({ type: "answer_approval", approval_id: approvalId, decision });
    const repeated = { type: "exec_approval", approval_id: approvalId, decision } as const;
    if (answer.status === "answered") (this.#decisions ??= new Map()).set(approvalId, repeated);
    return answer;
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
    return await this.#change(() => this.#fallAsleep(link));
  }

  /**
   * Ends the handle of a conversation that sleeps or can sleep, and leaves a turn that waits for an approval as it is.
   * Returns false if it is working, or is not saved.
   */
  async release(): Promise<boolean> {
    await this.#settled();
    if (this.#link !== undefined && !(await this.sleep())) return false;
    if (this.#isOver) return true;
    this.#isOver = true;
    this.#ending ??= Promise.resolve();
    this.#queue.close();
    this.#listener.onEnd(this);
    return true;
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
    await this.#settled();
    if (this.#link !== undefined && !this.#isOver) return this.#link;
    if (this.#mirror === undefined || this.#ending !== undefined) throw endedFailure(this.id);
    const mirror = this.#mirror;
    return await this.#change(() => this.#wake(mirror));
  }

  /** Sets that the conversation falls asleep, wakes up or recovers; a recovery may replace the other two. */
  #change<T>(start: () => Promise<T>): Promise<T> {
    const work = Promise.resolve().then(start);
    const forget = (): void => {
      if (this.#changing === work) this.#changing = undefined;
    };
    this.#changing = work;
    work.then(forget, forget);
    return work;
  }

  async #settled(): Promise<void> {
    while (this.#changing !== undefined) await this.#changing.catch(() => undefined);
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
    if (this.#link === undefined || this.#isOver) return;
    this.#sink?.mute();
    this.#link = undefined;
    if (reason !== undefined) this.#giveUp(reason);
    else void this.#change(() => this.#recover());
  }

  /** Opens the conversation elsewhere: its open turn is ended there, and what waited in it is sent again. */
  async #recover(): Promise<void> {
    try {
      const link = await this.#wake(this.mirror);
      for (const [id, op] of this.#waiting ?? []) await link.ref.tell(op, id).catch(() => undefined);
    } catch (error) {
      this.#endLost(`the conversation was lost with its thread and cannot be opened again: ${errorMessage(error)}`);
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
    for (const id of this.#waiting?.keys() ?? []) {
      this.publish({ type: "error", message, codex_error_info: "thread_died" }, id);
    }
    this.#waiting = undefined;
  }

  reader(options: { readonly since?: number }): EventReader<Event> {
    return this.#queue.reader(options);
  }

  publish(msg: ConversationMsg, submissionId: string): void {
    if (isDeltaMsg(msg)) return this.#publishDelta(msg, submissionId);
    this.lastActiveAt = performance.now();
    if (msg.type !== "mirror" && isApprovalMsg(msg) && this.#isAsked(msg.approval_id)) return;
    this.#follow(msg, submissionId);
    if (msg.type === "mirror") return;
    if ((msg.type === "task_complete" || msg.type === "turn_aborted") && this.#hasEnded(msg)) return;
    const event = this.#event(msg, submissionId, this.#seq++);
    if (isApprovalMsg(msg)) this.#noteRequest(event);
    this.#listener.onEvent(event);
    this.#queue.publish(event);
    // Whatever caused the shutdown, no event follows this one.
    if (msg.type === "shutdown_complete") {
      this.#isOver = true;
      this.#ending ??= this.#end();
    }
  }

  /** Most messages are deltas, which change nothing but the text of the turn. */
  #publishDelta(msg: DeltaMsg, submissionId: string): void {
    this.#mirror?.apply(msg, submissionId, nothing);
    const event = this.#event(msg, submissionId, this.#seq++);
    this.#listener.onEvent(event);
    this.#queue.publish(event);
  }

  publishRun(first: DeltaMsg, texts: readonly string[], submissionId: string): void {
    this.lastActiveAt = performance.now();
    this.#mirror?.apply({ ...first, delta: first.delta + texts.join("") }, submissionId, nothing);
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

  async #shutDown(id = ""): Promise<void> {
    if (this.#changing !== undefined) await this.#settled();
    // A turn that waits for an approval is aborted, as if the conversation were awake.
    const hasTurn = this.#mirror?.openTurn !== undefined;
    if (this.#link === undefined && hasTurn) await this.#wake(this.mirror).catch(() => undefined);
    // A conversation that cannot end its turn in time is ended anyway: its recorded lines are with the writer.
    const signal = AbortSignal.timeout(shutdownMs);
    for (let link = this.#link; link !== undefined && !this.#isOver; link = this.#link) {
      await link.ref.ask({ type: "shutdown" }, signal, id).catch(() => undefined);
      // If its thread has died meanwhile, it is ended where it was opened again.
      if (this.#link === link) break;
      await this.#settled();
    }
    if (this.#link === undefined && !this.#isOver) this.publish({ type: "shutdown_complete" }, id);
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#isOver = true;
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

  /** A conversation that was opened again asks again; the readers know the request already, and may have answered it. */
  #isAsked(approvalId: string): boolean {
    const decision = this.#decisions?.get(approvalId);
    if (decision !== undefined) void this.#repeated(({ ref }) => ref.tell(decision, ""), true).catch(() => undefined);
    const isOpen = ({ msg }: Event): boolean => isApprovalMsg(msg) && msg.approval_id === approvalId;
    return decision !== undefined || this.onLagged().some(isOpen);
  }

  #follow(msg: ConversationMsg, submissionId: string): void {
    const waiting = this.#waiting?.get(submissionId);
    const input = waiting !== undefined && "items" in waiting ? waiting.items : nothing;
    if (msg.type === "mirror" && msg.change.type === "opened") {
      if (this.#mirror === undefined) this.#mirror = new ConversationMirror(msg.change);
      else this.#announceEnd(this.#mirror.openTurn, msg.change);
    }
    this.#mirror?.apply(msg, submissionId, input);
    if (waiting !== undefined && hasEffect(waiting, msg)) this.#waiting?.delete(submissionId);
  }

  /** Whether the readers know the end of a turn already. An end that is saved has every line before it saved. */
  #hasEnded({ turn_id, saved }: TurnEnd): boolean {
    this.#decisions = undefined;
    const turnId = turn_id ?? "";
    const isKnown = this.#unsavedEnds?.has(turnId) ?? false;
    if (saved === true) this.#unsavedEnds = undefined;
    else if (turnId !== "") (this.#unsavedEnds ??= new Set()).add(turnId);
    return isKnown;
  }

  /** Publishes the end of a turn that was recorded before the actor was lost, or never will be. */
  #announceEnd(openTurn: string | undefined, { openTurn: stillOpen, lastEnd }: OpenedChange): void {
    const ended = lastEnd?.type === "task_complete" || lastEnd?.type === "turn_aborted" ? lastEnd : undefined;
    const endedId = ended?.turn_id ?? undefined;
    if (
      ended !== undefined &&
      endedId !== undefined &&
      (endedId === openTurn || (this.#waiting?.has(endedId) ?? false))
    ) {
      this.publish({ ...ended, saved: true }, endedId);
    } else if (openTurn !== undefined && openTurn !== stillOpen) {
      this.publish({ type: "turn_aborted", turn_id: openTurn, reason: "interrupted" }, openTurn);
    }
    // Begun, so that the conversation ends or continues it.
    for (const id of [endedId, stillOpen]) if (id !== undefined) this.#waiting?.delete(id);
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

function isWaitingOp(op: ConversationOp): op is WaitingOp {
  return ["user_input", "user_turn", "steer", "queue", "pin", "override_turn_context"].includes(op.type);
}

/** Whether a message about a submission shows that it waits no longer. An error before its turn has begun refuses it. */
function hasEffect(op: WaitingOp, msg: ConversationMsg): boolean {
  if (msg.type === "error") return true;
  if (op.type === "pin") return msg.type === "raw_response_item";
  if (op.type === "override_turn_context") return msg.type === "mirror" && msg.change.type === "settings";
  return msg.type === "task_started" || (op.type === "steer" && msg.type === "user_message");
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
