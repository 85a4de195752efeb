import type { Conversation } from "../../actors/conversation/handle.js";
import { type Event, type EventMsg, isApprovalMsg } from "../../messages/event.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Op } from "../../messages/submission.js";
import type { ApprovalRequest } from "../../messages/tools/approval.js";
import { exitCodes } from "../command-error.js";
import { type Approver, isKnowledgeRequest } from "./approval.js";
import type { Renderer } from "./render.js";

/**
 * `refused`: the turn completed, but a request was refused because nobody could be asked. `truncated`: the answer is
 * incomplete, because the model reached its output limit.
 */
export type TurnOutcome = "answered" | "truncated" | "refused" | "failed" | "aborted";

export interface PlayOptions {
  /** Interrupts the turn. */
  readonly signal: AbortSignal;
  readonly approve: Approver;
}

/** The result of some work, and the events shown meanwhile. */
export interface WithEvents<T> {
  readonly result: T;
  readonly msgs: readonly EventMsg[];
}

/** Plays the turns of one conversation in order and renders their events. */
export class TurnPlayer {
  readonly conversation: Conversation;
  readonly #render: Renderer;
  readonly #events: AsyncIterator<Event>;
  /** A requested event that has not been consumed yet. */
  #next: Promise<IteratorResult<Event>> | undefined;

  constructor(conversation: Conversation, render: Renderer) {
    this.conversation = conversation;
    this.#render = render;
    this.#events = conversation.events({ lossless: true })[Symbol.asyncIterator]();
  }

  /**
   * Shows the events of opening the conversation. If a turn has waited for an approval since a crash, plays it to its
   * end and returns its outcome.
   */
  async open(options: PlayOptions): Promise<TurnOutcome | undefined> {
    const { openTurn } = this.conversation;
    if (openTurn !== undefined) {
      return await this.#play(({ msg }) => "turn_id" in msg && msg.turn_id === openTurn.turnId, options);
    }
    await this.#showReady();
    return undefined;
  }

  async play(input: string | Op, options: PlayOptions): Promise<TurnOutcome> {
    if (options.signal.aborted) return "aborted";
    const id = await this.conversation.submit(input);
    return await this.#play((event) => event.id === id, options);
  }

  /** Shows events while work other than a turn runs; aborting the signal interrupts it. */
  async watch<T>(work: Promise<T>, signal: AbortSignal): Promise<WithEvents<T>> {
    using _ = this.#interruptedBy(signal);
    const msgs: EventMsg[] = [];
    const over = work.then(
      () => undefined,
      () => undefined,
    );
    for (;;) {
      this.#next ??= this.#events.next();
      const next = await Promise.race([this.#next, over]);
      if (next === undefined || next.done === true) break;
      this.#next = undefined;
      await this.#render(next.value);
      msgs.push(next.value.msg);
    }
    msgs.push(...(await this.#showReady()));
    return { result: await work, msgs };
  }

  async #play(isOfTurn: (event: Event) => boolean, options: PlayOptions): Promise<TurnOutcome> {
    using _ = this.#interruptedBy(options.signal);
    try {
      return await this.#showUntilEnd(isOfTurn, options);
    } finally {
      await this.#render.stop?.();
    }
  }

  #interruptedBy(signal: AbortSignal): Disposable {
    const interrupt = (): void => void this.conversation.interrupt().catch(() => undefined);
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    return { [Symbol.dispose]: () => signal.removeEventListener("abort", interrupt) };
  }

  async #showUntilEnd(isOfTurn: (event: Event) => boolean, options: PlayOptions): Promise<TurnOutcome> {
    let started = false;
    let refused = false;
    for (;;) {
      const { value: event, done } = await this.#nextEvent();
      if (done === true) return "failed";
      await this.#render(event);
      const { msg } = event;
      if (isApprovalMsg(msg) && (await this.#decide(msg, event.seq, options)) && !isKnowledgeRequest(msg))
        refused = true;
      if (!isOfTurn(event)) continue;
      if (msg.type === "task_started") started = true;
      const outcome = outcomeOf(msg, started);
      if (outcome !== undefined) return refused && hasAnswer(outcome) ? "refused" : outcome;
    }
  }

  /** Returns true if the request was refused because nobody could be asked. */
  async #decide(request: ApprovalRequest, seq: number, { approve, signal }: PlayOptions): Promise<boolean> {
    using over = watchRequestEnd(this.conversation, request, seq);
    const decision = await approve(request, AbortSignal.any([signal, over.signal]));
    // The decision is no longer needed: the turn was interrupted, or the request is closed.
    if (signal.aborted || over.signal.aborted) return false;
    try {
      await this.conversation.submit({ type: "exec_approval", id: request.approval_id, decision });
    } catch (error) {
      // The request was closed, for example by a timeout, while the answer was on its way.
      if (error instanceof FailureError && error.code === "invalid_request") return false;
      throw error;
    }
    // Only `refusingApprover` gives a reason; a person's decision is a plain word.
    return typeof decision === "object";
  }

  async #nextEvent(): Promise<IteratorResult<Event>> {
    const next = this.#next ?? this.#events.next();
    this.#next = undefined;
    return await next;
  }

  async #showReady(): Promise<EventMsg[]> {
    const msgs: EventMsg[] = [];
    for (let event = await this.#ready(); event !== undefined; event = await this.#ready()) {
      await this.#render(event);
      msgs.push(event.msg);
    }
    return msgs;
  }

  /** The next event, if it has already arrived. */
  async #ready(): Promise<Event | undefined> {
    this.#next ??= this.#events.next();
    const nothing = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
    const next = await Promise.race([this.#next, nothing]);
    if (next === undefined || next.done === true) return undefined;
    this.#next = undefined;
    return next.value;
  }
}

function hasAnswer(outcome: TurnOutcome): boolean {
  return outcome === "answered" || outcome === "truncated";
}

function outcomeOf(msg: EventMsg, started: boolean): TurnOutcome | undefined {
  if (msg.type === "task_complete") {
    if (msg.error) return "failed";
    return msg.truncated === true ? "truncated" : "answered";
  }
  if (msg.type === "turn_aborted") return "aborted";
  // Rejected before it started: no other event will end this turn.
  return msg.type === "error" && !started ? "failed" : undefined;
}

/** The exit code for the outcomes of turns. Undefined means that no turn was played. */
export function exitCodeOf(...outcomes: readonly (TurnOutcome | undefined)[]): number {
  if (outcomes.some(isFailure)) return exitCodes.failed;
  return outcomes.includes("truncated") ? exitCodes.truncated : 0;
}

function isFailure(outcome: TurnOutcome | undefined): boolean {
  return outcome !== undefined && outcome !== "answered" && outcome !== "truncated";
}

/**
 * Its signal is aborted when an approval request no longer needs an answer, because it timed out or was answered
 * elsewhere.
 */
function watchRequestEnd(
  conversation: Conversation,
  request: ApprovalRequest,
  seq: number,
): Disposable & { readonly signal: AbortSignal } {
  const ended = new AbortController();
  // A separate reader, so that the renderer still gets these events.
  const events = conversation.events({ since: seq + 1 });
  void watch(events, request, ended);
  return {
    signal: ended.signal,
    [Symbol.dispose]: () => void events.return?.(),
  };
}

async function watch(events: AsyncIterable<Event>, request: ApprovalRequest, ended: AbortController): Promise<void> {
  for await (const { msg } of events) {
    if (endsRequest(msg, request)) break;
  }
  ended.abort();
}

/** True if the call runs or has its output, or if its turn has ended. */
function endsRequest(msg: EventMsg, { call_id, turn_id }: ApprovalRequest): boolean {
  switch (msg.type) {
    case "exec_command_begin":
    case "patch_apply_begin":
      return msg.call_id === call_id;
    case "raw_response_item":
      return (Object(msg.item) as { readonly call_id?: unknown }).call_id === call_id;
    case "task_complete":
    case "turn_aborted":
      return msg.turn_id === turn_id;
    default:
      return false;
  }
}
