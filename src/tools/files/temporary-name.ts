import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isProcessDead } from "../../base/process/process-state.js";

const temporaryName = /^\.cody-([0-9a-f]{8})-(\d+)-[0-9a-f-]{36}\.(tmp|old)$/;
/** For processes of another machine or container: a file that is untouched for this long counts as abandoned. */
const staleMs = 24 * 60 * 60 * 1000;
const placeChars = 8;

/** A file beside one that is being replaced: `tmp` is its new content, `old` its previous one. */
type TemporaryKind = "tmp" | "old";

let ownPidScope: string | undefined;

/** A name, without extension, for a file that this process puts beside another; it identifies the process. */
export function newTemporaryName(): string {
  return `.cody-${pidScope()}-${process.pid}-${randomUUID()}`;
}

/** Undefined for names of other files. */
export function temporaryKind(name: string): TemporaryKind | undefined {
  return temporaryName.exec(name)?.[3] as TemporaryKind | undefined;
}

/** Whether the process that created it is gone. */
export function isStaleTemporary(name: string, touchedMs: number, now: number): boolean {
  const [, where, pid] = temporaryName.exec(name) ?? [];
  if (pid === undefined) return false;
  return where === pidScope() ? isProcessDead(Number(pid)) : now - touchedMs > staleMs;
}

/**
 * Identifies the scope in which a process id is unique: the machine since its last boot, and the container's pid
 * namespace.
 */
function pidScope(): string {
  if (ownPidScope !== undefined) return ownPidScope;
  const boot = textOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const namespace = textOr(() => readlinkSync("/proc/self/ns/pid"));
  ownPidScope = createHash("sha256")
    .update([hostname(), boot, namespace].join("\n"))
    .digest("hex")
    .slice(0, placeChars);
  return ownPidScope;
}

function textOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
