import { nodeFileSystem, type FileSystem } from "../../../src/rollouts/file/file-system.js";

export type Call = keyof FileSystem;

/** Intercepts a file system call: replaces it, adds to it, or passes it on. */
export type Interception = (call: Call, next: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>;

const calls = Object.keys(nodeFileSystem) as Call[];

/** The real file system with an interceptor in front of each call. */
export function intercepted(interception: Interception): FileSystem {
  const entries = calls.map((call) => {
    const original = nodeFileSystem[call] as (...args: unknown[]) => Promise<unknown>;
    return [call, (...args: unknown[]) => interception(call, () => original(...args), args)];
  });
  return Object.fromEntries(entries) as FileSystem;
}

/** Faults that can be switched on and off, one per file system call. */
export class Faults {
  readonly #active = new Map<Call, Interception>();
  readonly counts = new Map<Call, number>();
  readonly fileSystem = intercepted((call, next, args) => {
    this.counts.set(call, (this.counts.get(call) ?? 0) + 1);
    return this.#active.get(call)?.(call, next, args) ?? next();
  });

  always(call: Call, interception: Interception): void {
    this.#active.set(call, interception);
  }

  once(call: Call, interception: Interception): void {
    this.#active.set(call, (...all) => {
      this.#active.delete(call);
      return interception(...all);
    });
  }

  clear(): void {
    this.#active.clear();
  }
}

/** Writes at most the given number of bytes. */
export const short = (fd: unknown, bytes: unknown, length: number): Promise<number> =>
  nodeFileSystem.write(fd as number, (bytes as Uint8Array).subarray(0, length));

/** Writes the given number of bytes and then fails with a full disk. */
export function torn(length: number): Interception {
  return async (call, next, [fd, bytes]) => {
    if (length > 0) await short(fd, bytes, length);
    return failing("ENOSPC")(call, next, []);
  };
}

export function failing(code: string): Interception {
  return () => Promise.reject(Object.assign(new Error(`${code}: a fault of the test, at /some/secret/path`), { code }));
}

/** Holds a call until it is released. */
export class Gate {
  readonly #reached: Promise<void>;
  #arrive = (): void => {};
  #open = (): void => {};
  readonly #opened: Promise<void>;

  constructor() {
    this.#reached = new Promise((resolve) => {
      this.#arrive = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  readonly hold: Interception = async (_call, next) => {
    this.#arrive();
    await this.#opened;
    return next();
  };

  /** Resolves when a call waits at the gate. */
  get reached(): Promise<void> {
    return this.#reached;
  }

  open(): void {
    this.#open();
  }
}
