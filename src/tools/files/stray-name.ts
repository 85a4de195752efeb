import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isProcessDead } from "../../base/fs/is-dead.js";

const strayName = /^\.cody-([0-9a-f]{8})-(\d+)-[0-9a-f-]{36}\.(tmp|old)$/;
/** Of processes that cannot be asked after: what nobody has touched for so long was left. */
const leftMs = 24 * 60 * 60 * 1000;
const placeChars = 8;

/** What lies beside a file while it is replaced: what it shall be, or what it was. */
export type StrayKind = "tmp" | "old";

let ownPlace: string | undefined;

/** A name, without its ending, for what this process puts beside a file; it says whose it is. */
export function newStrayName(): string {
  return `.cody-${place()}-${process.pid}-${randomUUID()}`;
}

/** Undefined for the names of other files. */
export function strayKind(name: string): StrayKind | undefined {
  return strayName.exec(name)?.[3] as StrayKind | undefined;
}

/** Whether who put it there is gone. */
export function isLeftStray(name: string, touchedMs: number, now: number): boolean {
  const [, where, pid] = strayName.exec(name) ?? [];
  if (pid === undefined) return false;
  return where === place() ? isProcessDead(Number(pid)) : now - touchedMs > leftMs;
}

/** Where the number of a process means one process: a machine since its start, and what of it a container sees. */
function place(): string {
  if (ownPlace !== undefined) return ownPlace;
  const boot = textOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const namespace = textOr(() => readlinkSync("/proc/self/ns/pid"));
  ownPlace = createHash("sha256").update([hostname(), boot, namespace].join("\n")).digest("hex").slice(0, placeChars);
  return ownPlace;
}

function textOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
