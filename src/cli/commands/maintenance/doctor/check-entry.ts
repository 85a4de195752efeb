import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { saveFailureReason } from "../../../../actors/rollout-writer/reason.js";
import { ConversationNotFoundError } from "../../../../base/errors.js";
import type { LockOwner } from "../../../../messages/rollout-command.js";
import { blobFolder, blobHash, isBlobName } from "../../../../rollouts/file/blobs.js";
import { isOwnerDead, readLock, describeOwner } from "../../../../rollouts/file/lock-owner.js";
import { lockHolder } from "../../../../rollouts/file/lock.js";
import { idFromFileName } from "../../../../rollouts/layout.js";
import { checkRollout } from "../../../../rollouts/repair/check-rollout.js";
import type { StoreEntry } from "../../../../rollouts/repair/store-entries.js";
import { snapshotFolder } from "../../../../rollouts/snapshot-folder.js";
import { checkRights, type Ownership } from "./check-rights.js";
import type { Finding, StoreFinding } from "./finding.js";
import { isStaleTemporary } from "./left-temporary.js";

/** The identity of the current process and the expected ownership. */
export interface CheckContext {
  readonly us: LockOwner;
  readonly uid: number;
  readonly now: number;
  readonly files: Ownership;
  readonly folders: Ownership;
  readonly signal: AbortSignal;
}

/** Reports problems with one entry of the store; an entry that has disappeared meanwhile is not a problem. */
export async function checkEntry(entry: StoreEntry, look: CheckContext): Promise<Finding[]> {
  const { path } = entry;
  if (entry.kind === "unreadable_folder") return [{ kind: "unreadable", path, reason: saveFailureReason(entry.error) }];
  const id = entry.kind === "rollout" ? idFromFileName(entry.name) : undefined;
  const named = id === undefined ? {} : { id };
  try {
    return (await findingsOf(entry, look, id)).map((finding) => ({ ...finding, ...named }));
  } catch (error) {
    look.signal.throwIfAborted();
    if (error instanceof ConversationNotFoundError || isMissing(error)) return [];
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    return [{ kind: "unreadable", path, reason: saveFailureReason(error), ...named }];
  }
}

type OwnEntry = Exclude<StoreEntry, { kind: "unreadable_folder" }>;

async function findingsOf({ kind, path }: OwnEntry, look: CheckContext, id: string | undefined): Promise<Finding[]> {
  const { uid, us, now } = look;
  const stats = await lstat(path);
  // A folder may be a symbolic link; its creator wanted it to be followed, so it is not checked.
  if (kind === "folder") return stats.isDirectory() ? rightsOf("folders") : [];
  if (kind === "blobs" || kind === "snapshots") {
    const beside = kind === "blobs" ? blobFolder : snapshotFolder;
    return stats.isDirectory() ? [...rightsOf("files"), ...(await checkBlobs(path, look, beside))] : [];
  }
  if (!stats.isFile()) return kind === "rollout" ? [{ kind: "not_regular", path }] : [];
  const rights = rightsOf("files");
  if (kind === "lock") return [...rights, ...(await checkLock(path, us))];
  if (kind === "temporary" && isStaleTemporary(stats, now)) return [...rights, { kind: "temporary", path }];
  if (id === undefined) return rights;
  const isInUse = async (): Promise<boolean> => (await lockHolder(path, us)) !== undefined;
  return [...rights, ...(await checkRollout({ path, conversationId: id }, { signal: look.signal, isInUse }))];

  function rightsOf(what: "files" | "folders"): StoreFinding[] {
    return checkRights({ path, stats, uid, ownership: look[what] });
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Checks the contents stored beside a rollout; `beside` maps a rollout to their folder. */
async function checkBlobs(
  folder: string,
  look: CheckContext,
  beside: (rolloutPath: string) => string,
): Promise<StoreFinding[]> {
  const names = (await readdir(folder)).toSorted();
  const findings: StoreFinding[] = [];
  for (const name of names) {
    look.signal.throwIfAborted();
    const path = join(folder, name);
    const stats = await lstat(path);
    if (!stats.isFile()) continue;
    findings.push(...checkRights({ path, stats, uid: look.uid, ownership: look.files }));
    if (isBlobName(name)) {
      if (blobHash(await readFile(path)) !== name) findings.push({ kind: "changed_blob", path });
    } else if (name.endsWith(".tmp") && isStaleTemporary(stats, look.now)) findings.push({ kind: "temporary", path });
  }
  return (await hasRollout(folder, beside)) || names.length === 0
    ? findings
    : [...findings, { kind: "orphaned_blobs", path: folder, blobs: names.length }];
}

async function hasRollout(folder: string, beside: (rolloutPath: string) => string): Promise<boolean> {
  const rollouts = (await readdir(dirname(folder))).filter((name) => idFromFileName(name) !== undefined);
  return rollouts.some((name) => basename(beside(join(dirname(folder), name))) === basename(folder));
}

/** Checks whether the owner of a lock is alive, as far as this process can tell. */
async function checkLock(path: string, us: LockOwner): Promise<StoreFinding[]> {
  const lock = await readLock(path);
  if (lock.status === "none") return [];
  if (lock.status === "garbled") return [{ kind: "garbled_lock", path }];
  const { owner } = lock;
  if (await isOwnerDead(owner, us)) return [{ kind: "dead_lock", path, pid: owner.pid }];
  const isNear = owner.bootId === us.bootId && owner.pidNamespace === us.pidNamespace;
  return isNear ? [] : [{ kind: "far_lock", path, owner: describeOwner(owner, us) }];
}
