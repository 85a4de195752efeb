import { closeSync, fchmodSync, fstatSync, lstatSync, openSync, readSync, writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { ConcurrencyLimit } from "../../base/time/shared-work.js";
import type {
  OpenOutcome,
  RolloutWriterAnswer,
  RolloutWriterOp,
  RolloutWriterEvent,
  SaveOutcome,
} from "../../messages/actors/rollout-writer.js";
import { type FileSystem, nodeFileSystem } from "../../rollouts/file/file-system.js";
import { LockTemplates } from "../../rollouts/file/lock.js";
import { DirectorySyncs } from "./durable-directory.js";
import { saveFailureReason, RolloutFileError } from "./save-failure.js";
import { Descriptors, RolloutFile, type Disk, type OpenCommand } from "./rollout-file.js";

const firstRetryMs = 250;

const longestRetryMs = 30_000;

/** Lines without a waiting caller become durable after this delay, so that one sync serves many of them. */
const unaskedSyncMs = 1_000;

/**
 * For the writer's own thread: operations that only reach the page cache run synchronously, because Node's thread pool
 * costs more than the work itself. Operations that wait for the disk go through the pool, so that others can proceed.
 */
export const threadFileSystem: FileSystem = {
  ...nodeFileSystem,
  open: async (path, flags, mode) => openSync(path, flags, mode),
  close: async (fd) => closeSync(fd),
  fstat: async (fd) => fstatSync(fd),
  fchmod: async (fd, mode) => fchmodSync(fd, mode),
  read: async (fd, buffer, position) => readSync(fd, buffer, 0, buffer.byteLength, position),
  write: async (fd, bytes) => writeSync(fd, bytes),
  lstat: async (path) => lstatSync(path),
};

/**
 * Number of files worked on at a time. Node's pool of four threads serves the whole process: one stays free for other
 * work, and a file that stalls leaves two lanes for the others.
 */
const maxParallelSaves = 3;
/** Maximum number of files kept open between writes. */
const maxOpenFiles = 1_024;

/**
 * A conversation that another client has open is looked at again for this many turns of the event loop: if that client
 * has just died, the end of its port is seen within them.
 */
const closingTurns = 5;

const notOpen = { status: "not_saved", reason: "the conversation is not open" } as const;

/** One client's access to the writer. */
export interface WriterSession {
  handle(op: RolloutWriterOp): RolloutWriterAnswer | undefined | Promise<RolloutWriterAnswer>;
  /** Saves what the client has sent, closes its rollouts and releases their locks. */
  end(): Promise<void>;
}

/**
 * Owns every open rollout of the process. It loads no schema library: its messages were validated where they entered.
 * Several clients may be connected; a conversation belongs to the one that opened it.
 */
export class RolloutWriter {
  readonly #disk: Disk;
  readonly #saveLimit = new ConcurrencyLimit(maxParallelSaves);
  readonly #rollouts = new Map<string, OpenRollout>();
  readonly #sessions = new Set<WriterSession>();

  constructor(fileSystem: FileSystem, openFiles = maxOpenFiles) {
    this.#disk = {
      fileSystem,
      descriptors: new Descriptors(openFiles),
      directories: new DirectorySyncs(fileSystem),
      lockTemplates: new LockTemplates(),
    };
  }

  connect(publish: (event: RolloutWriterEvent) => void): WriterSession {
    const session: WriterSession = {
      handle: (op) => this.#handle(op, session, publish),
      end: async () => {
        this.#sessions.delete(session);
        const owned = Array.from(this.#rollouts).filter(([, rollout]) => rollout.session === session);
        await Promise.all(owned.map(([conversationId]) => this.#close(conversationId, session)));
      },
    };
    this.#sessions.add(session);
    return session;
  }

  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#sessions, (session) => session.end()));
  }

  #handle(
    op: RolloutWriterOp,
    session: WriterSession,
    publish: (event: RolloutWriterEvent) => void,
  ): RolloutWriterAnswer | undefined | Promise<RolloutWriterAnswer> {
    if (op.type === "open") return this.#open(op, session, publish);
    if (op.type === "close") return this.#close(op.conversationId, session);
    const rollout = this.#rollouts.get(op.conversationId);
    const saver = rollout?.session === session ? rollout.saver : undefined;
    if (op.type === "flush") return saver?.flush() ?? notOpen;
    saver?.append(op.lines, op.sync);
    return undefined;
  }

  async #open(
    command: OpenCommand,
    session: WriterSession,
    publish: (event: RolloutWriterEvent) => void,
  ): Promise<OpenOutcome> {
    const { conversationId } = command;
    for (let turn = 0; this.#belongsToAnother(conversationId, session); turn += 1) {
      if (turn === closingTurns) return { status: "in_use", owner: `this process (pid ${process.pid})` };
      await setImmediate();
    }
    if (!this.#sessions.has(session)) return notOpen;
    const before = this.#rollouts.get(conversationId);
    const file = new RolloutFile(this.#disk, command);
    const saver = new RolloutSaver(conversationId, file, this.#saveLimit, publish);
    const rollout: OpenRollout = { session, saver, closing: undefined };
    this.#rollouts.set(conversationId, rollout);
    const outcome = await saver.open(before?.closing ?? before?.saver.abandon());
    if (outcome.status === "in_use") this.#forget(conversationId, rollout);
    return outcome;
  }

  #belongsToAnother(conversationId: string, session: WriterSession): boolean {
    const rollout = this.#rollouts.get(conversationId);
    return rollout !== undefined && rollout.session !== session && rollout.closing === undefined;
  }

  async #close(conversationId: string, session: WriterSession): Promise<SaveOutcome> {
    const rollout = this.#rollouts.get(conversationId);
    if (rollout?.session !== session) return { status: "saved" };
    rollout.closing ??= rollout.saver.close();
    const outcome = await rollout.closing;
    this.#forget(conversationId, rollout);
    return outcome;
  }

  #forget(conversationId: string, rollout: OpenRollout): void {
    if (this.#rollouts.get(conversationId) === rollout) this.#rollouts.delete(conversationId);
  }
}

interface OpenRollout {
  readonly session: WriterSession;
  readonly saver: RolloutSaver;
  closing: Promise<SaveOutcome> | undefined;
}

interface Waiter {
  /** The number of the last line it waits for. */
  readonly upTo: number;
  answer(outcome: SaveOutcome): void;
}

/**
 * Keeps one conversation's lines until they are durable. Lines are written at once, but synced only when a caller
 * waits, because a sync costs more than everything else. At most one step runs at a time; lines that come meanwhile go
 * into the next one. Failures are reported at once and retried with growing delays, or immediately on a flush.
 */
class RolloutSaver {
  readonly #conversationId: string;
  readonly #file: RolloutFile;
  readonly #limit: ConcurrencyLimit;
  readonly #publish: (event: RolloutWriterEvent) => void;
  readonly #waiters: Waiter[] = [];
  #added = 0;
  #savedLines = 0;
  /** The number of the last line that must become durable now. */
  #syncThrough = 0;
  #unaskedSync: NodeJS.Timeout | undefined;
  #step: Promise<void> | undefined;
  #failure: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;
  #ended = false;

  constructor(
    conversationId: string,
    file: RolloutFile,
    saveLimit: ConcurrencyLimit,
    publish: (event: RolloutWriterEvent) => void,
  ) {
    this.#conversationId = conversationId;
    this.#file = file;
    this.#limit = saveLimit;
    this.#publish = publish;
  }

  /** Waits for `before`, because two savers must not have the file open at once. */
  async open(before?: Promise<unknown>): Promise<OpenOutcome> {
    const opening = this.#openFile(before);
    this.#begin(opening);
    await this.#step;
    return opening.catch(() => ({ status: "not_saved", reason: this.#failure ?? "not open" }));
  }

  append(lines: readonly string[], sync: boolean): void {
    if (this.#ended) return;
    this.#file.add(lines);
    this.#added += lines.length;
    if (sync) this.#syncThrough = this.#added;
    // After a failure, the retry timer or a flush decides when to try again.
    if (this.#retry === undefined) this.#next();
  }

  flush(): Promise<SaveOutcome> {
    if (this.#ended) return Promise.resolve(notOpen);
    if (this.#isSaved) return Promise.resolve({ status: "saved" });
    this.#syncThrough = this.#added;
    return new Promise((answer) => {
      this.#waiters.push({ upTo: this.#added, answer });
      this.#next();
    });
  }

  async close(): Promise<SaveOutcome> {
    const outcome = await this.flush();
    await this.release();
    return outcome;
  }

  /** Stops without saving and releases the lock. */
  async release(): Promise<void> {
    await this.abandon();
    await this.#file.close();
  }

  /** Stops without saving and keeps the lock, for the next saver of this conversation. */
  async abandon(): Promise<void> {
    this.#end();
    await this.#step;
    await this.#file.closeFile();
  }

  get #isSaved(): boolean {
    return this.#step === undefined && this.#file.opened && this.#file.waitingLines === 0;
  }

  get #wantsSync(): boolean {
    return this.#syncThrough > this.#savedLines;
  }

  /** Begins the next step, unless one is running: that one checks again when it ends. */
  #next(): void {
    if (this.#step === undefined && !this.#ended) this.#begin(this.#limit.run(() => this.#save()));
  }

  async #openFile(before: Promise<unknown> | undefined): Promise<OpenOutcome> {
    // Not inside the limit, because `before` may need a turn itself.
    await before;
    const outcome = await this.#limit.run(() => this.#file.open());
    if (outcome.status === "open") await this.#file.settle();
    else this.#end();
    return outcome;
  }

  #begin(work: Promise<unknown>): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#step = work.then(
      () => this.#succeeded(),
      (error: unknown) => this.#failed(saveFailureReason(error)),
    );
  }

  async #save(): Promise<void> {
    if (this.#ended) return;
    if (!this.#file.opened) {
      const outcome = await this.#file.open();
      if (outcome.status === "in_use") throw new RolloutFileError(`in use by ${outcome.owner}`);
      await this.#file.settle();
      // The sender must know where the file begins before our first line can be in it.
      this.#publishSaved(0, this.#file.savedBytes);
    }
    if (!this.#wantsSync) return this.#file.unwrittenLines > 0 ? this.#file.write() : undefined;
    const { lines, bytes } = await this.#file.commit();
    this.#savedLines += lines;
    this.#publishSaved(lines, bytes);
  }

  #publishSaved(lines: number, bytes: number): void {
    // The receiver takes the last failure as resolved, so a repeated one must be reported again.
    this.#failure = undefined;
    if (!this.#ended) this.#publish({ type: "saved", conversationId: this.#conversationId, lines, bytes });
  }

  #succeeded(): void {
    this.#step = undefined;
    this.#failure = undefined;
    this.#retryMs = firstRetryMs;
    if (this.#ended) return;
    while (this.#waiters[0] !== undefined && this.#waiters[0].upTo <= this.#savedLines) {
      this.#waiters.shift()?.answer({ status: "saved" });
    }
    if (this.#file.unwrittenLines > 0 || this.#wantsSync || this.#waiters.length > 0) this.#next();
    else if (this.#file.waitingLines > 0) this.#syncLater();
  }

  #syncLater(): void {
    this.#unaskedSync ??= setTimeout(() => {
      this.#unaskedSync = undefined;
      this.#syncThrough = this.#added;
      this.#next();
    }, unaskedSyncMs).unref();
  }

  #failed(reason: string): void {
    this.#step = undefined;
    if (this.#ended) return;
    if (reason !== this.#failure) this.#publish({ type: "not_saved", conversationId: this.#conversationId, reason });
    this.#failure = reason;
    // A reported failure must be followed by a report that it is resolved.
    this.#syncThrough = this.#added;
    for (const waiter of this.#waiters.splice(0)) waiter.answer({ status: "not_saved", reason });
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#next();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    clearTimeout(this.#unaskedSync);
    for (const waiter of this.#waiters.splice(0)) {
      waiter.answer({ status: "not_saved", reason: "the conversation was closed" });
    }
  }
}
