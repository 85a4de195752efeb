import { linkSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The content of a lock file, or of a mark beside it. */
export type LockFile<Owner> =
  { readonly status: "none" } | { readonly status: "garbled" } | { readonly status: "held"; readonly owner: Owner };

/** The parts in which locks differ: how a file names its owner, and when that owner counts as dead. */
export interface LockKind<Owner> {
  read(path: string): Promise<LockFile<Owner>>;
  /** Identifies an owner; becomes part of a file name. */
  tokenOf(owner: Owner): string;
  isDead(owner: Owner): Promise<boolean>;
}

type Takeover<Owner> =
  /** `gone` are the dead owner and the dead processes that tried to take over from it. */
  | { readonly status: "taken"; readonly gone: readonly Owner[] }
  /** Another process has replaced or removed the lock meanwhile. */
  | { readonly status: "again" }
  /** A live process is just taking over; `by` is undefined if there are too many marks. */
  | { readonly status: "in_use"; readonly by: Owner | "unreadable" | undefined };

const maxChain = 64;

/**
 * Replaces the lock of an owner that is gone by `own`, a complete lock file of ours. A process first links
 * `<lock>.after.<token of the owner>`, which only one process can, and only then replaces the lock. A taker may die half
 * way and leave its mark behind, so marks form a chain: a process that finds the mark of a dead taker tries to become
 * that taker's successor.
 */
export async function takeOverLock<Owner>(
  kind: LockKind<Owner>,
  lock: string,
  own: string,
  { gone: first, us }: { readonly gone: Owner; readonly us: string },
): Promise<Takeover<Owner>> {
  const deadOwners: [Owner, ...Owner[]] = [first];
  let last = first;
  while (deadOwners.length <= maxChain) {
    const mark = `${lock}.after.${kind.tokenOf(last)}`;
    if (linked(own, mark)) return await replaceLock(kind, lock, own, { mark, gone: deadOwners });
    const found = await kind.read(mark);
    // The mark was removed meanwhile: its owner has finished, and the lock has a new owner.
    if (found.status === "none") return { status: "again" };
    if (found.status === "garbled") return { status: "in_use", by: "unreadable" };
    // Our own mark: a thread of this process died, or the disk failed, between mark and lock.
    if (kind.tokenOf(found.owner) === us) return await replaceLock(kind, lock, own, { mark, gone: deadOwners });
    if (!(await kind.isDead(found.owner))) return { status: "in_use", by: found.owner };
    last = found.owner;
    deadOwners.push(last);
  }
  return { status: "in_use", by: undefined };
}

async function replaceLock<Owner>(
  kind: LockKind<Owner>,
  lock: string,
  own: string,
  { mark, gone }: { readonly mark: string; readonly gone: readonly [Owner, ...Owner[]] },
): Promise<Takeover<Owner>> {
  try {
    const found = await kind.read(lock);
    // The mark was free only because an earlier winner has already removed it.
    if (found.status !== "held" || kind.tokenOf(found.owner) !== kind.tokenOf(gone[0])) {
      await rm(mark, { force: true });
      return { status: "again" };
    }
    await rename(own, lock);
  } catch (error) {
    // As long as the mark is there and we are alive, nobody else can take over.
    await rm(mark, { force: true }).catch(() => undefined);
    throw error;
  }
  await clearMarks(lock);
  return { status: "taken", gone };
}

/** Removes all marks. Call only while holding the lock: late takers notice by reading the lock again. */
async function clearMarks(lock: string): Promise<void> {
  const prefix = `${basename(lock)}.after.`;
  const names = await readdir(dirname(lock));
  const marks = names.filter((name) => name.startsWith(prefix)).map((name) => join(dirname(lock), name));
  await Promise.all(marks.map((mark) => rm(mark, { force: true })));
}

/** Creates a second name for a file. Returns false if the name is taken. */
export function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
