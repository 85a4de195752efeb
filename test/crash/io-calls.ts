import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { threadFileSystem } from "../../src/actors/rollout-writer/rollout-writer.js";
import type { FileSystem } from "../../src/rollouts/file/file-system.js";

/** A disk call that is about to be made. */
export interface IoCall {
  /** Counted from 1. */
  readonly number: number;
  readonly name: string;
  readonly args: readonly unknown[];
  /** Makes the call, with other arguments if given. */
  readonly perform: (args?: readonly unknown[]) => Promise<unknown>;
}

/** Runs instead of every call: performs it, does something else, or does more. */
export type OnCall = (call: IoCall) => Promise<unknown>;

type AsyncFunction = (...args: readonly unknown[]) => Promise<unknown>;

/** The functions of Node that the lock uses. */
const lockCalls = ["open", "link", "rename", "rm", "readdir"] as const;
/** How many event loop rounds in a row must have no pending call. */
const quietRounds = 5;

/**
 * Intercepts every disk call for the rollouts below a directory, through the writer's file system and for its locks.
 */
export class IoCalls implements Disposable {
  readonly names: string[] = [];
  readonly fileSystem: FileSystem;
  readonly #directory: string;
  readonly #onCall: OnCall;
  readonly #original: Partial<Record<string, unknown>>;
  #running = 0;

  constructor(directory: string, onCall: OnCall) {
    this.#directory = directory;
    this.#onCall = onCall;
    this.fileSystem = mapped(threadFileSystem, (name, call) => this.#watched(name, call));
    this.#original = Object.fromEntries(lockCalls.map((name) => [name, promises[name]]));
    Object.assign(
      promises,
      mapped(this.#original as Record<string, AsyncFunction>, (name, call) => this.#watchedLock(name, call)),
    );
    syncBuiltinESMExports();
  }

  /** Resolves when no call is pending. */
  async quiet(): Promise<void> {
    for (let rounds = 0; rounds < quietRounds; rounds += 1) {
      await setImmediate();
      if (this.#running > 0) rounds = 0;
    }
  }

  [Symbol.dispose](): void {
    Object.assign(promises, this.#original);
    syncBuiltinESMExports();
  }

  #watched(name: string, original: AsyncFunction): AsyncFunction {
    return async (...args) => {
      this.names.push(name);
      this.#running += 1;
      const perform = (given = args): Promise<unknown> => original(...given);
      try {
        return await this.#onCall({ number: this.names.length, name, args, perform });
      } finally {
        this.#running -= 1;
      }
    };
  }

  /** Node's own functions have other callers as well, which are not intercepted. */
  #watchedLock(name: string, original: AsyncFunction): AsyncFunction {
    const watched = this.#watched(`lock ${name}`, original);
    return async (...args) => {
      if (!String(args[0]).startsWith(this.#directory)) return original(...args);
      const result = await watched(...args);
      if (name === "open") this.#watchHandle(result as promises.FileHandle);
      return result;
    };
  }

  #watchHandle(handle: promises.FileHandle): void {
    const writeFile = this.#watched("lock write", handle.writeFile.bind(handle) as AsyncFunction);
    Object.assign(handle, { writeFile });
  }
}

function mapped<T extends object>(functions: T, change: (name: string, original: AsyncFunction) => AsyncFunction): T {
  const entries = Object.entries(functions).map(([name, original]) => [name, change(name, original as AsyncFunction)]);
  return Object.fromEntries(entries) as T;
}
