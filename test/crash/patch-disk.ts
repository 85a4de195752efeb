import { writeFileSync, writeSync } from "node:fs";
import fs, { type FileHandle } from "node:fs/promises";

/** Ways one of the disk calls can fail. */
export const patchFaults = ["death", "half", "EIO", "done, and EIO"] as const;
export type PatchFault = (typeof patchFaults)[number];

export interface PatchPoint {
  /** The number of the call, counted from 1. */
  readonly number: number;
  readonly fault: PatchFault;
}

type Call = (this: unknown, ...args: unknown[]) => Promise<unknown>;

/** The methods of a file handle that access the disk; `close` is wrapped for each handle. */
const handleCalls = ["writeFile", "read", "stat", "chown", "chmod", "sync"];

/**
 * Replaces functions of Node's file system module so that one call fails. The bundle refers to Node's module object, so
 * it uses the replaced functions.
 */
export class PatchDisk {
  readonly calls: string[] = [];
  /** Handles that have not been closed. */
  readonly open = new Set<unknown>();
  failedRemovals = 0;
  readonly #point: PatchPoint | undefined;

  constructor(point: PatchPoint | undefined) {
    this.#point = point;
  }

  async install(): Promise<void> {
    const prototype = await handlePrototype();
    for (const name of handleCalls) this.#watch(prototype, name);
    for (const [name, value] of Object.entries(fs)) if (typeof value === "function") this.#watch(fs, name);
  }

  #watch(owner: object, name: string): void {
    const original = Reflect.get(owner, name) as Call;
    const play = (target: unknown, args: unknown[]) => this.#play(name, original, target, args);
    Reflect.set(owner, name, function (this: unknown, ...args: unknown[]) {
      return play(this, args);
    });
  }

  async #play(name: string, original: Call, target: unknown, args: unknown[]): Promise<unknown> {
    this.calls.push(name);
    const fault = this.calls.length === this.#point?.number ? this.#point.fault : undefined;
    if (fault === "death" || fault === "half") return await die(fault, name, target, args);
    if (name === "close") this.open.delete(target);
    if (fault !== undefined && name === "rm") this.failedRemovals += 1;
    // A handle counts as closed even when `close` reports an error.
    if (fault === "EIO" && name !== "close") throw inputOutputError();
    const result = await original.apply(target, args);
    if (fault !== undefined) {
      if (name === "open") await (result as FileHandle).close();
      throw inputOutputError();
    }
    if (name === "open") {
      this.open.add(result);
      this.#watch(result as FileHandle, "close");
    }
    return result;
  }
}

async function handlePrototype(): Promise<object> {
  const handle = await fs.open("/");
  await handle.close();
  return Object.getPrototypeOf(handle) as object;
}

/** Dies with half of the data written. */
async function die(fault: PatchFault, name: string, target: unknown, [first, second]: unknown[]): Promise<never> {
  if (fault === "half" && name === "writeFile") writeSync((target as FileHandle).fd, String(first).slice(0, 10));
  if (fault === "half" && name === "copyFile") writeFileSync(String(second), "half");
  process.kill(process.pid, "SIGKILL");
  return await new Promise<never>(() => {});
}

function inputOutputError(): Error {
  return Object.assign(new Error("EIO: a fault of the test"), { code: "EIO" });
}
