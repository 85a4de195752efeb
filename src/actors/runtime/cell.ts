import type { Failure } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";
import type { ActorEvent, SpawnOptions } from "./actor.js";
import type { Envelope } from "./envelope.js";
import { makeFailure } from "./failures.js";
import { Incarnation, type Blueprint, type Host } from "./incarnation.js";
import { isolateListener } from "./isolated.js";
import { Mailbox } from "./mailbox.js";
import { RestartWindow } from "./restart-window.js";
import { schedule, type Runnable } from "./scheduler.js";

export const defaultCapacity = 1024;

/** An actor's mailbox and the incarnations that process it, one after the other. */
export class Cell implements Runnable, Host {
  readonly #actor: Blueprint;
  readonly #mailbox: Mailbox;
  readonly #restarts: RestartWindow;
  readonly #onRestart: (failure: Failure) => void;
  readonly #onFailed: (failure: Failure) => void;
  readonly #onDropped: (id: string) => void;
  readonly publish: (event: ActorEvent<unknown>) => void;
  #life: Incarnation;
  #refusal: Failure | undefined;
  ready = false;
  previous: Runnable | undefined = undefined;
  next: Runnable | undefined = undefined;

  constructor(actor: Blueprint, options: SpawnOptions<unknown>) {
    this.#actor = actor;
    this.#mailbox = new Mailbox(options.capacity ?? defaultCapacity);
    this.#restarts = new RestartWindow(options.budget);
    this.#onRestart = isolateListener(actor.name, options.onRestart);
    this.#onFailed = isolateListener(actor.name, options.onFailed);
    this.#onDropped = isolateListener(actor.name, options.onDropped);
    this.publish = isolateListener(actor.name, options.onEvent);
    this.#life = new Incarnation(actor, this);
    void this.#supervise();
  }

  get name(): string {
    return this.#actor.name;
  }

  /** The reason why messages are refused from now on, if they are. */
  get refusal(): Failure | undefined {
    return this.#refusal;
  }

  get hasPlace(): boolean {
    return this.#mailbox.hasPlace;
  }

  /** Returns whether the message was accepted at once; otherwise its caller is notified later. */
  submit(envelope: Envelope): boolean {
    if (this.#refusal !== undefined) {
      envelope.caller?.refused(new FailureError(this.#refusal));
      return false;
    }
    const accepted = this.#mailbox.offer(envelope);
    if (accepted && this.#life.isLive) schedule(this);
    return accepted;
  }

  /** Refuses the caller at once; a handler that is already running is aborted through its signal. */
  cancel(envelope: Envelope, reason?: unknown): void {
    const { status, op, caller, controller } = envelope;
    if (status === "waiting" || status === "queued") {
      this.#mailbox.remove(envelope);
      envelope.status = "settled";
    } else if (status === "running") {
      envelope.status = "cancelled";
    } else {
      return;
    }
    caller?.refused(new FailureError(makeFailure("aborted", `${this.name}: ${op.type}: aborted`), { cause: reason }));
    controller?.abort(reason);
  }

  stop(): Promise<void> {
    const refusal = makeFailure("actor_stopped", `${this.name}: stopped`);
    if (this.#refusal === undefined) this.#refuse(refusal);
    return this.#life.end(refusal);
  }

  insist(envelope: Envelope): void {
    this.#mailbox.insist(envelope);
    if (this.#life.isLive) schedule(this);
  }

  release(): void {
    this.#mailbox.release();
    if (!this.#mailbox.isEmpty && this.#life.isLive) schedule(this);
  }

  get hasWork(): boolean {
    return this.#life.isLive && !this.#mailbox.isEmpty;
  }

  take(limit: number): number {
    let taken = 0;
    while (taken < limit && this.#life.isLive) {
      const envelope = this.#mailbox.shift();
      if (envelope === undefined) break;
      this.#life.handle(envelope);
      taken += 1;
    }
    return taken;
  }

  async #supervise(): Promise<void> {
    let cause: Failure | undefined;
    for (;;) {
      const life = this.#life;
      if (await life.start()) {
        if (cause !== undefined) this.#onRestart(cause);
        if (this.hasWork) schedule(this);
      }
      cause = await life.failure;
      if (cause === undefined) return;
      await life.end(cause);
      if (this.#refusal !== undefined) return;
      if (!this.#restarts.spend()) return this.#giveUp(cause);
      this.#life = new Incarnation(this.#actor, this);
    }
  }

  #giveUp({ message }: Failure): void {
    const { restarts, windowMs } = this.#restarts.budget;
    const failure = makeFailure(
      "actor_failed",
      `${message} (failed for good: ${restarts} restarts within ${windowMs} ms)`,
    );
    this.#refuse(failure);
    this.#onFailed(failure);
  }

  #refuse(failure: Failure): void {
    this.#refusal = failure;
    for (const envelope of this.#mailbox.clear()) {
      envelope.status = "settled";
      envelope.caller?.refused(new FailureError(failure));
      if (envelope.caller === undefined && envelope.sender === undefined) this.#onDropped(envelope.id);
    }
  }
}
