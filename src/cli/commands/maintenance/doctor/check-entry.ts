import { lstat } from "node:fs/promises";
import { reasonOf } from "../../../../actors/rollout-writer/reason.js";
import type { LockOwner } from "../../../../messages/rollout-command.js";
import { ConversationNotFoundError } from "../../../../messages/errors.js";
import { blobFolder } from "../../../../rollouts/file/blobs.js";
import { checkRollout } from "../../../../rollouts/repair/check-rollout.js";
import { idOfName } from "../../../../rollouts/layout.js";
import { lockHolder } from "../../../../rollouts/file/lock.js";
import { snapshotFolder } from "../../../../rollouts/snapshot-folder.js";
import type { StoreEntry } from "../../../../rollouts/repair/store-entries.js";
import { checkBlobs } from "./check-blobs.js";
import { checkLock } from "./check-lock.js";
import { checkRights, type Ownership } from "./check-rights.js";
import type { Finding, StoreFinding } from "./finding.js";
import { isLeftTemporary } from "./left-temporary.js";

/** Who looks, and at what. */
export interface Look {
  readonly us: LockOwner;
  readonly uid: number;
  readonly now: number;
  readonly files: Ownership;
  readonly folders: Ownership;
  readonly signal: AbortSignal;
}

/** What is wrong with one thing in the store; what is gone by now is not. */
export async function checkEntry(entry: StoreEntry, look: Look): Promise<Finding[]> {
  const { path } = entry;
  if (entry.kind === "unreadable_folder") return [{ kind: "unreadable", path, reason: reasonOf(entry.error) }];
  const id = entry.kind === "rollout" ? idOfName(entry.name) : undefined;
  const named = id === undefined ? {} : { id };
  try {
    return (await findingsOf(entry, look, id)).map((finding) => ({ ...finding, ...named }));
  } catch (error) {
    look.signal.throwIfAborted();
    if (error instanceof ConversationNotFoundError || isGone(error)) return [];
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    return [{ kind: "unreadable", path, reason: reasonOf(error), ...named }];
  }
}

type OwnEntry = Exclude<StoreEntry, { kind: "unreadable_folder" }>;

async function findingsOf({ kind, path }: OwnEntry, look: Look, id: string | undefined): Promise<Finding[]> {
  const { uid, us, now } = look;
  const stats = await lstat(path);
  // A folder may be a link: whoever made it wanted it to be followed.
  if (kind === "folder") return stats.isDirectory() ? rightsOf("folders") : [];
  if (kind === "blobs" || kind === "snapshots") {
    const beside = kind === "blobs" ? blobFolder : snapshotFolder;
    return stats.isDirectory() ? [...rightsOf("files"), ...(await checkBlobs(path, look, beside))] : [];
  }
  if (!stats.isFile()) return kind === "rollout" ? [{ kind: "not_regular", path }] : [];
  const rights = rightsOf("files");
  if (kind === "lock") return [...rights, ...(await checkLock(path, us))];
  if (kind === "temporary" && isLeftTemporary(stats, now)) return [...rights, { kind: "temporary", path }];
  if (id === undefined) return rights;
  const isInUse = async (): Promise<boolean> => (await lockHolder(path, us)) !== undefined;
  return [...rights, ...(await checkRollout({ path, conversationId: id }, { signal: look.signal, isInUse }))];

  function rightsOf(what: "files" | "folders"): StoreFinding[] {
    return checkRights({ path, stats, uid, ownership: look[what] });
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
