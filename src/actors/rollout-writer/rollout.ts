import { errorMessage } from "../../base/error-message.js";
import { startDeadline, Deferred } from "../../base/time/waiting.js";
import type {
  SaveOutcome,
  LockOwner,
  OpenOutcome,
  RolloutWriterAnswers,
  RolloutWriterOp,
} from "../../messages/actors/rollout-writer.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import type { LineEncoder } from "../../rollouts/file/encode.js";

/** The destination of one conversation's lines. Never throws and never blocks: `flush` reports failures. */
export interface Rollout {
  /** Null when nothing is written to a file. */
  readonly path: string | null;
  /** Whether so many lines wait that no new turn should begin. */
  readonly full: boolean;
  /** Length of the file including waiting lines; zero while it is unknown, or without a file. */
  readonly bytes: number;
  append(line: OwnLine): void;
  /** Returns the number of secrets redacted since the last call. */
  takeRedacted(): number;
  /** Resolves within ten seconds, with the outcome for every line appended so far. */
  flush(): Promise<SaveOutcome>;
  /** Flushes and releases the file and its lock. */
  close(): Promise<SaveOutcome>;
}

export interface OpenRequest {
  readonly conversationId: string;
  readonly path: string;
  readonly mode: "create" | "append";
  /** Encodes a line for the disk. Every written line passes through it, so this is where secrets are redacted. */
  readonly encode: LineEncoder;
  /** Take the lock although its owner cannot be proved dead. */
  readonly force?: boolean;
}

/** The part of the outbox that a rollout uses. */
export interface Outgoing {
  readonly full: boolean;
  readonly failure: string | undefined;
  readonly deadlineMs: number;
  /** Whether an op can be sent now. */
  readonly isConnected: boolean;
  owner(): Promise<LockOwner>;
  /** Resolves to undefined when the writer has not answered before its thread ended, or cannot be reached now. */
  ask<T extends keyof RolloutWriterAnswers>(
    op: Extract<RolloutWriterOp, { type: T }>,
  ): Promise<RolloutWriterAnswers[T] | undefined>;
  /** Calls the rollout's `takeAppend` as soon as a message can be sent. */
  send(rollout: OutboxRollout): void;
  /** Adds to the number of waiting bytes; negative when bytes were saved. */
  count(bytes: number): void;
  forget(rollout: OutboxRollout): void;
  /** Called when the writer did not confirm that it closed this file. */
  closedUnanswered(conversationId: string, path: string): void;
}

interface Waiter {
  /** The number of the last line it waits for. */
  readonly upTo: number;
  answer(outcome: SaveOutcome): void;
}

/** One conversation's lines on their way to the writer. */
export class OutboxRollout implements Rollout {
  readonly conversationId: string;
  readonly path: string;
  readonly #request: OpenRequest;
  readonly #outbox: Outgoing;
  readonly #lines: UnsavedLines;
  readonly #waiters = new Set<Waiter>();
  readonly #opened = new Deferred<OpenOutcome>();
  /**
   * Nothing is sent before the writer has answered, because the position of our first line must be known. `unopened`
   * means that the writer could not open the file and keeps trying, `unreached` that the writer was never asked.
   */
  #state: "opening" | "open" | "unopened" | "unreached" | "closed" = "opening";
  /** Counts the attempts to open; answers to an earlier one are ignored. */
  #generation = 0;
  /** Whether an earlier writer may have created the file. */
  #hasAsked = false;
  /** Whether the writer last reported that it could not write. */
  #failing = false;
  /** Whether a caller waits for the added lines to become durable. */
  #wantsSync = false;
  /** The secrets redacted since the last `takeRedacted`; each counts once. */
  readonly #redacted = new Set<string>();
  #closing: Promise<SaveOutcome> | undefined;

  constructor(outbox: Outgoing, request: OpenRequest) {
    this.conversationId = request.conversationId;
    this.path = request.path;
    this.#request = request;
    this.#outbox = outbox;
    this.#lines = new UnsavedLines(request.mode === "create" ? 0 : undefined);
  }

  get full(): boolean {
    return this.#outbox.full;
  }

  get bytes(): number {
    return this.#lines.endBytes;
  }

  open(): Promise<OpenOutcome> {
    void this.#open();
    return this.#bounded(this.#opened.promise, (reason) => ({ status: "not_saved", reason }));
  }

  append(line: OwnLine): void {
    if (this.#state === "closed" || this.#outbox.failure !== undefined) return;
    const { text, secrets } = this.#request.encode(line);
    for (const secret of secrets) this.#redacted.add(secret);
    this.#outbox.count(this.#lines.add(text));
    this.#outbox.send(this);
  }

  /** The message with the lines added since the last one. A new writer gets all of them and compares them with the file. */
  takeAppend(): RolloutWriterOp | undefined {
    if (this.#state !== "open" && this.#state !== "unopened") return undefined;
    const lines = this.#lines.takeUnsent();
    const sync = this.#wantsSync;
    if (lines.length === 0 && !sync) return undefined;
    this.#wantsSync = false;
    return { type: "append", conversationId: this.conversationId, lines, sync };
  }

  takeRedacted(): number {
    const { size } = this.#redacted;
    this.#redacted.clear();
    return size;
  }

  async flush(): Promise<SaveOutcome> {
    if (this.#state === "closed") return { status: "not_saved", reason: "the conversation is closed" };
    const { failure } = this.#outbox;
    if (failure !== undefined) return { status: "not_saved", reason: failure };
    if (this.#state === "open" && this.#lines.count === 0) return { status: "saved" };
    const answer = new Deferred<SaveOutcome>();
    const waiter: Waiter = { upTo: this.#lines.added, answer: (outcome) => answer.resolve(outcome) };
    this.#waiters.add(waiter);
    if (this.#state === "unreached") void this.#open();
    // After a failure, a flush makes the writer try again; otherwise the sync request goes with the lines, and `saved`
    // answers it.
    else if (this.#state !== "open" || this.#failing) void this.#askFlush();
    else {
      this.#wantsSync = true;
      this.#outbox.send(this);
    }
    const outcome = await this.#bounded<SaveOutcome>(answer.promise, (reason) => ({ status: "not_saved", reason }));
    this.#waiters.delete(waiter);
    return outcome;
  }

  close(): Promise<SaveOutcome> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * The file is durable up to `bytes`. The position is in bytes because an event of an earlier writer may arrive late.
   */
  saved(bytes: number, lines: number): void {
    if (this.#state === "closed") return;
    if (this.#state === "unopened") this.#state = "open";
    this.#failing = false;
    this.#outbox.count(-this.#lines.savedUpTo(bytes, lines));
    for (const waiter of this.#waiters) {
      if (waiter.upTo <= this.#lines.saved && this.#state === "open") waiter.answer({ status: "saved" });
    }
  }

  notSaved(reason: string): void {
    this.#failing = true;
    for (const waiter of this.#waiters) waiter.answer({ status: "not_saved", reason });
  }

  /** A new writer has started without any state. */
  reopen(): void {
    if (this.#state !== "closed") void this.#open();
  }

  giveUp(reason: string): void {
    this.#opened.resolve({ status: "not_saved", reason });
    for (const waiter of this.#waiters) waiter.answer({ status: "not_saved", reason });
    this.#outbox.count(-this.#lines.clear());
  }

  async #open(): Promise<void> {
    this.#generation += 1;
    const generation = this.#generation;
    this.#state = "opening";
    const owner = await this.#outbox.owner().catch(errorMessage);
    if (generation !== this.#generation || this.#isClosed) return;
    if (typeof owner === "string") return this.#failToOpen(owner);
    const outcome = await this.#askOpen(owner);
    if (outcome === undefined || generation !== this.#generation || this.#isClosed) return;
    if (outcome.status === "open") this.#lines.beginsAt(outcome.bytes);
    this.#state = outcome.status === "open" ? "open" : "unopened";
    this.#opened.resolve(outcome);
    this.#lines.sendAgain();
    this.#outbox.send(this);
    if (this.#waiters.size > 0) void this.#askFlush();
  }

  /** Without an owner no lock can be taken; the next flush tries again. */
  #failToOpen(reason: string): void {
    this.#state = "unreached";
    this.#opened.resolve({ status: "not_saved", reason });
    for (const waiter of this.#waiters) waiter.answer({ status: "not_saved", reason });
  }

  /** Returns undefined when the writer died meanwhile: a new one will start, or `giveUp` is called. */
  #askOpen(owner: LockOwner): Promise<OpenOutcome | undefined> {
    const { conversationId, path, mode, force = false } = this.#request;
    const { savedBytes } = this.#lines;
    const known = this.#hasAsked && savedBytes !== undefined ? { acknowledgedBytes: savedBytes } : {};
    this.#hasAsked ||= this.#outbox.isConnected;
    return this.#outbox.ask({ type: "open", conversationId, path, mode, owner, force, ...known });
  }

  async #close(): Promise<SaveOutcome> {
    const outcome = await this.flush();
    const reached = this.#state !== "unreached";
    this.#state = "closed";
    this.#outbox.count(-this.#lines.clear());
    let answer: SaveOutcome | undefined = outcome;
    if (reached) {
      answer = await this.#bounded<SaveOutcome | undefined>(
        this.#outbox.ask({ type: "close", conversationId: this.conversationId }),
        () => undefined,
      );
    }
    this.#outbox.forget(this);
    if (answer === undefined) this.#outbox.closedUnanswered(this.conversationId, this.path);
    return outcome;
  }

  get #isClosed(): boolean {
    return this.#state === "closed";
  }

  async #askFlush(): Promise<void> {
    const generation = this.#generation;
    if (this.#state === "opening" || this.#state === "closed") return;
    // Lines appended earlier are sent first.
    const upTo = this.#lines.added;
    const outcome = await this.#outbox.ask({ type: "flush", conversationId: this.conversationId });
    // Without an answer, the next writer is asked again.
    if (outcome === undefined || generation !== this.#generation) return;
    for (const waiter of this.#waiters) {
      if (outcome.status !== "saved" || waiter.upTo <= upTo) waiter.answer(outcome);
    }
  }

  async #bounded<T>(promise: Promise<T>, onTimeout: (reason: string) => T): Promise<T> {
    const { deadlineMs } = this.#outbox;
    const deadline = new Deferred<T>();
    const reason = `the writer did not answer in ${deadlineMs / 1000} s`;
    // The timer keeps the process alive, because a caller that waits for a save must get an answer.
    const forget = startDeadline(deadlineMs, () => deadline.resolve(onTimeout(reason)), { unref: false });
    try {
      return await Promise.race([promise, deadline.promise]);
    } finally {
      forget();
    }
  }
}

interface Line {
  readonly text: string;
  readonly bytes: number;
}

/** Lines in the order they were added, each kept until it is known to be durable. */
class UnsavedLines {
  #lines: Line[] = [];
  #sent = 0;
  #added = 0;
  #savedBytes: number | undefined;
  #waitingBytes = 0;

  /** `savedBytes` is the length of the file before the first of these lines, if already known. */
  constructor(savedBytes: number | undefined) {
    this.#savedBytes = savedBytes;
  }

  get count(): number {
    return this.#lines.length;
  }

  get added(): number {
    return this.#added;
  }

  get saved(): number {
    return this.#added - this.#lines.length;
  }

  get savedBytes(): number | undefined {
    return this.#savedBytes;
  }

  /** Length of the file with all lines; zero while its initial length is unknown. */
  get endBytes(): number {
    return this.#savedBytes === undefined ? 0 : this.#savedBytes + this.#waitingBytes;
  }

  beginsAt(bytes: number): void {
    this.#savedBytes ??= bytes;
  }

  /** Returns the number of bytes added. */
  add(text: string): number {
    const bytes = Buffer.byteLength(text);
    this.#lines.push({ text, bytes });
    this.#added += 1;
    this.#waitingBytes += bytes;
    return bytes;
  }

  takeUnsent(): string[] {
    const lines = this.#lines.slice(this.#sent).map((line) => line.text);
    this.#sent = this.#lines.length;
    return lines;
  }

  sendAgain(): void {
    this.#sent = 0;
  }

  /** Drops the lines before `end`; returns the number of bytes that no longer wait. */
  savedUpTo(end: number, lines: number): number {
    if (this.#savedBytes === undefined) {
      // The first event has no lines and reports the initial length of the file.
      this.#savedBytes = lines === 0 ? end : undefined;
      return 0;
    }
    const before = this.#savedBytes;
    let count = 0;
    for (const line of this.#lines) {
      if (this.#savedBytes + line.bytes > end) break;
      this.#savedBytes += line.bytes;
      count += 1;
    }
    this.#lines.splice(0, count);
    this.#sent = Math.max(0, this.#sent - count);
    this.#waitingBytes -= this.#savedBytes - before;
    return this.#savedBytes - before;
  }

  clear(): number {
    const bytes = this.#waitingBytes;
    this.#lines = [];
    this.#sent = 0;
    this.#waitingBytes = 0;
    return bytes;
  }
}
