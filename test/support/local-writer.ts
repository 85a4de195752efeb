import { MessageChannel } from "node:worker_threads";
import { setImmediate } from "node:timers/promises";
import { RolloutWriter, type WriterSession } from "../../src/actors/rollout-writer/rollout-writer.js";
import { serveClient } from "../../src/actors/rollout-writer/serve-writer.js";
import type { WriterListener, WriterSource } from "../../src/actors/rollout-writer/writer-thread.js";
import type { RolloutWriterOp } from "../../src/messages/actors/rollout-writer.js";
import { nodeFileSystem, type FileSystem } from "../../src/rollouts/file/file-system.js";

type AsyncFunction = (...args: readonly unknown[]) => Promise<unknown>;

/** A writer in this thread, for tests that intercept its disk. Clients reach it through ports, as in production. */
export class LocalWriter implements WriterSource {
  /** Number of writers that were started. */
  starts = 0;
  readonly #fileSystem: FileSystem;
  readonly #openFiles: number | undefined;
  readonly #listeners = new Set<WriterListener>();
  readonly #crashes: (op: RolloutWriterOp) => boolean;
  #life: Life | undefined;

  /** `crashes` decides whether the writer dies instead of handling an op. */
  constructor(
    fileSystem: FileSystem = nodeFileSystem,
    openFiles?: number,
    crashes: (op: RolloutWriterOp) => boolean = () => false,
  ) {
    this.#fileSystem = fileSystem;
    this.#openFiles = openFiles;
    this.#crashes = crashes;
  }

  connect(listener: WriterListener): () => void {
    this.#listeners.add(listener);
    this.#life ??= this.#start();
    this.#life.connect(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends the writer as the death of its thread does, and starts the next one. */
  async crash(): Promise<void> {
    await this.#life?.end();
    const life = this.#start();
    this.#life = life;
    for (const listener of this.#listeners) life.connect(listener);
  }

  /** Ends the writer for good. */
  async fail(reason: string): Promise<void> {
    await this.#life?.end();
    for (const listener of this.#listeners) listener.onFailed(reason);
  }

  async stop(): Promise<void> {
    await this.#life?.stop();
  }

  #start(): Life {
    this.starts += 1;
    return new Life(this.#fileSystem, this.#openFiles, (op) => {
      const isCrashing = this.#crashes(op);
      if (isCrashing) void this.crash();
      return isCrashing;
    });
  }
}

class Life {
  readonly #writer: RolloutWriter;
  readonly #crashes: (op: RolloutWriterOp) => boolean;
  readonly #disconnects: (() => void)[] = [];
  #runningCalls = 0;
  #hasEnded = false;

  constructor(fileSystem: FileSystem, openFiles: number | undefined, crashes: (op: RolloutWriterOp) => boolean) {
    const entries = Object.entries(fileSystem).map(([name, call]) => [name, this.#mortal(call as AsyncFunction)]);
    this.#writer = new RolloutWriter(Object.fromEntries(entries) as FileSystem, openFiles);
    this.#crashes = crashes;
  }

  connect(listener: WriterListener): void {
    const { port1, port2 } = new MessageChannel();
    serveClient((publish) => this.#mortalSession(this.#writer.connect(publish)), port2);
    port2.unref();
    this.#disconnects.push(() => port2.close());
    listener.onPort(port1);
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    for (const disconnect of this.#disconnects) disconnect();
    // The disk calls of a dead thread are completed.
    while (this.#runningCalls > 0) await setImmediate();
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded) await this.#writer.stop();
    for (const disconnect of this.#disconnects) disconnect();
  }

  #mortalSession(session: WriterSession): WriterSession {
    return {
      end: () => session.end(),
      handle: (op) => {
        if (this.#hasEnded || this.#crashes(op)) return undefined;
        return session.handle(op);
      },
    };
  }

  /** After the end, no disk call begins, and none returns. */
  #mortal(call: AsyncFunction): AsyncFunction {
    return async (...args) => {
      if (this.#hasEnded) return new Promise(() => undefined);
      this.#runningCalls += 1;
      try {
        return await call(...args);
      } finally {
        this.#runningCalls -= 1;
        if (this.#hasEnded) await new Promise(() => undefined);
      }
    };
  }
}
