import { writeFileSync, writeSync } from "node:fs";
import fs, { type FileHandle } from "node:fs/promises";

/** What goes wrong with one of the calls to the disk. */
export const patchFaults = ["death", "half", "EIO", "done, and EIO"] as const;
export type PatchFault = (typeof patchFaults)[number];

export interface PatchPoint {
  /** Which call it is, counted from 1. */
  readonly number: number;
  readonly fault: PatchFault;
}

type Call = (this: unknown, ...args: unknown[]) => Promise<unknown>;

/** Those of a handle that go to the disk; `close` is each handle's own. */
const handleCalls = ["writeFile", "read", "stat", "chown", "chmod", "sync"];

/**
 * Node's own disk, of which one call goes wrong. What runs here is built as one file that holds Node's module by
 * reference, so it meets what is put into it.
 */
export class PatchDisk {
  readonly calls: string[] = [];
  /** Handles that nobody has tried to close. */
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
    // What is closed is closed, whatever the disk has to say about it.
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

/** With what was to be written half there. */
async function die(fault: PatchFault, name: string, target: unknown, [first, second]: unknown[]): Promise<never> {
  if (fault === "half" && name === "writeFile") writeSync((target as FileHandle).fd, String(first).slice(0, 10));
  if (fault === "half" && name === "copyFile") writeFileSync(String(second), "half");
  process.kill(process.pid, "SIGKILL");
  return await new Promise<never>(() => {});
}

function inputOutputError(): Error {
  return Object.assign(new Error("EIO: a fault of the test"), { code: "EIO" });
}
