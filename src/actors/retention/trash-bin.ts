import { sep } from "node:path";
import { mkdir, rm } from "node:fs/promises";
import { ConversationInUseError, ConversationNotFoundError } from "../../base/errors.js";
import {
  homePaths,
  type ConversationPlaces,
  isCodexDirectory,
  namedDirectories,
  namesFile,
  pinsFile,
} from "../../config/paths.js";
import { cleanupResult, type CleanupResult, type ConversationDeleteResult } from "../../messages/cleanup.js";
import type { TrashReason } from "../../messages/cleanup.js";
import { FailureError } from "../../messages/failure-error.js";
import { lockHolder } from "../../rollouts/file/lock.js";
import { runtimeDirectory } from "../../rollouts/file/runtime-directory.js";
import { forgetIndexed } from "../../rollouts/search/with-index.js";
import { NotDeletableError } from "../../rollouts/list/conversation-files.js";
import { forgetInIndex, appendToIndex } from "../../rollouts/list/index-file.js";
import type { RolloutName } from "../../rollouts/list/layout-files.js";
import { readNames } from "../../rollouts/list/names-and-pins.js";
import { describeTrashed, recordsName, type TrashedConversation } from "../../rollouts/trash/describe-trashed.js";
import { moveToTrash } from "../../rollouts/trash/move-to-trash.js";
import { removeForGood, finishInterrupted } from "../../rollouts/trash/finish-interrupted.js";
import { restore } from "../../rollouts/trash/restore.js";
import { type Trashed, trashed, nodeTrashFiles } from "../../rollouts/trash/trash-files.js";
import { openOwnerSocket, type OwnerSocket } from "../rollout-writer/rollout-locks.js";
import { saveFailureReason } from "../rollout-writer/save-failure.js";

export interface TrashBinParts {
  readonly places: ConversationPlaces;
  /** Read for `XDG_RUNTIME_DIR`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
}

/** Number of days during which a deleted conversation can be restored. */
export const trashDays = 30;
const dayMs = 24 * 60 * 60 * 1000;

export interface DeleteOptions {
  readonly why: TrashReason;
  /** Called when no other process can write the conversation any more; returns the reason to keep it, if any. */
  readonly keepIf?: (rollout: RolloutName) => Promise<string | undefined>;
}

/** The trash, where deleted conversations stay until they are removed for good. The opener must close it. */
export class TrashBin implements AsyncDisposable {
  readonly #parts: TrashBinParts;
  readonly #trash: string;
  readonly #socket: OwnerSocket;

  private constructor(parts: TrashBinParts, socket: OwnerSocket) {
    this.#parts = parts;
    this.#trash = homePaths(parts.places.home).trash;
    this.#socket = socket;
  }

  /** First finishes operations that were interrupted when their process died. */
  static async open(parts: TrashBinParts): Promise<TrashBin> {
    // A separate owner, so that a conversation open in this process counts as in use too.
    const socket = await openOwnerSocket(await runtimeDirectory(parts.env));
    const bin = new TrashBin(parts, socket);
    await finishInterrupted(nodeTrashFiles, bin.#trash, socket.owner);
    return bin;
  }

  /** Lists the trash, newest first. */
  async list(): Promise<TrashedConversation[]> {
    const entries = await this.#entries();
    const indexes = await Promise.all(namedDirectories(this.#parts.places).map(({ names }) => readNames(names)));
    const names = new Map(indexes.toReversed().flatMap((index) => [...index]));
    return await Promise.all(entries.map((entry) => describeTrashed(entry, names)));
  }

  /** Returns the process that holds a conversation and thereby prevents its deletion. */
  async holder({ path }: RolloutName): Promise<string | undefined> {
    return await lockHolder(path, this.#socket.owner);
  }

  /** Moves conversations into the trash. An error with one does not stop the others. */
  async delete(rollouts: readonly RolloutName[], options: DeleteOptions): Promise<CleanupResult> {
    const results: ConversationDeleteResult[] = [];
    for (const rollout of rollouts) results.push(await this.#delete(rollout, options));
    const result = cleanupResult(results);
    // An index entry that cannot be dropped now is dropped when the index finds the file missing.
    await deleteCachedCopies(this.#parts.places.home, idsOf(result));
    return result;
  }

  /** Restores the newest entry with this id, id prefix or full name. */
  async restore(text: string): Promise<Trashed> {
    const entries = await this.list();
    const byId = entries.filter(({ id }) => id.startsWith(text) || withoutPrefix(id).startsWith(text));
    // A prefix of several ids may still be the name of one conversation.
    const found = isOneConversation(byId) ? byId : await findByName(entries, text.trim());
    const [entry] = found.length > 0 ? found : byId;
    if (entry === undefined) throw new ConversationNotFoundError(text);
    if (!isOneConversation(found)) {
      const ids = (found.length > 0 ? found : byId).map(({ id }) => id);
      const message = `${text} matches several conversations in the trash: ${[...new Set(ids)].join(", ")}`;
      throw new FailureError({ code: "invalid_request", message, retryable: false });
    }
    await restore(nodeTrashFiles, entry, this.#socket.owner);
    await this.#audit("restored", entry);
    return entry;
  }

  /** Removes entries for good from the trash, and from the indexes next to their original location. */
  async remove(entries: readonly Trashed[], why: TrashReason): Promise<CleanupResult> {
    const results: ConversationDeleteResult[] = [];
    for (const entry of entries) {
      results.push(
        await tryToDelete(entry.id, async () => {
          const { bytes, hardLinked } = await removeForGood(nodeTrashFiles, entry, this.#socket.owner);
          await this.#audit("removed", { ...entry, why });
          return { size: entry.bytes, sizeFreed: bytes, ...(hardLinked.length === 0 ? {} : { hardLinked }) };
        }),
      );
    }
    const result = cleanupResult(results);
    await this.#forget(idsOf(result));
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#socket.close();
  }

  #entries(): Promise<Trashed[]> {
    return trashed(nodeTrashFiles, this.#trash);
  }

  #delete(rollout: RolloutName, { why, keepIf }: DeleteOptions): Promise<ConversationDeleteResult> {
    const { places, now } = this.#parts;
    return tryToDelete(rollout.id, async () => {
      const directory = [places.directory, ...places.elsewhere].find((place) => rollout.path.startsWith(place + sep));
      if (directory === undefined) throw new NotDeletableError("it is not in a conversations directory");
      // Codex's rollouts may start inside one another, and Codex has its own index of them.
      if (isCodexDirectory(directory, places))
        throw new NotDeletableError("it is in Codex's directory; cody does not delete there");
      const entry = await moveToTrash(nodeTrashFiles, {
        ...rollout,
        directory,
        trash: this.#trash,
        now: now(),
        graceMs: trashDays * dayMs,
        why,
        owner: this.#socket.owner,
        ...(keepIf === undefined ? {} : { keepIf: () => keepIf(rollout) }),
      });
      await this.#audit("trashed", entry);
      return { size: entry.bytes, sizeFreed: 0 };
    });
  }

  /**
   * Names are conversation content, so they are removed too. Indexes are only copies: an entry appended at this very
   * moment is restored from the rollout on resume.
   */
  async #forget(ids: readonly string[]): Promise<void> {
    const { places } = this.#parts;
    const own = [places.directory, ...places.elsewhere].filter((directory) => !isCodexDirectory(directory, places));
    const indexes = own.flatMap((directory) => [namesFile(directory, places.codexHome), pinsFile(directory, places)]);
    const stillThere = new Set((await this.#entries()).map(({ id }) => id));
    const removed = new Set(ids.filter((id) => !stillThere.has(id)));
    if (removed.size > 0)
      await Promise.all(indexes.map((index) => forgetInIndex(index, removed).catch(() => undefined)));
  }

  async #audit(action: "trashed" | "restored" | "removed", { id, path, bytes, why }: Trashed): Promise<void> {
    await appendAudit(this.#parts.places.home, { at: this.#parts.now().toISOString(), action, id, path, bytes, why });
  }
}

function isOneConversation(entries: readonly Trashed[]): boolean {
  return new Set(entries.map(({ id }) => id)).size === 1;
}

/** Reads rollouts only when no index has the name. */
async function findByName(entries: readonly TrashedConversation[], name: string): Promise<TrashedConversation[]> {
  const indexed = entries.filter((entry) => entry.name === name);
  if (indexed.length > 0) return indexed;
  const found: TrashedConversation[] = [];
  for (const entry of entries) if (entry.name === undefined && (await recordsName(entry, name))) found.push(entry);
  return found;
}

function idsOf({ successes }: CleanupResult): string[] {
  return successes.map(({ sessionId }) => sessionId);
}

type Sizes = Pick<ConversationDeleteResult, "size" | "sizeFreed" | "hardLinked">;

/** Returns the size, or the reason why it could not be deleted. */
async function tryToDelete(sessionId: string, work: () => Promise<Sizes>): Promise<ConversationDeleteResult> {
  try {
    return { success: true, sessionId, ...(await work()) };
  } catch (error) {
    return { success: false, sessionId, size: 0, sizeFreed: 0, error: deleteFailureReason(error) };
  }
}

function deleteFailureReason(error: unknown): string {
  if (error instanceof ConversationInUseError) return `it is in use by ${error.owner}`;
  if (error instanceof NotDeletableError || error instanceof FailureError) return error.message;
  return saveFailureReason(error);
}

function withoutPrefix(id: string): string {
  return id.replace(/^conv_/, "");
}

/** One line about something that was announced, moved, restored or removed; never contains conversation text. */
type AuditLine = Readonly<Record<string, unknown>> & { readonly at: string; readonly action: string };

/** Errors are ignored: a log that cannot be written must not prevent a restore. */
export async function appendAudit(home: string, line: AuditLine): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await appendToIndex(homePaths(home).retentionLog, line);
  } catch {
    // The terminal reports the action anyway.
  }
}

/**
 * Deletes cached data of conversations: in the index, and in the caches of lists. Returns whether all of it is gone.
 */
export async function deleteCachedCopies(home: string, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return true;
  const { heads, codexHeads, registeredHeads, index } = homePaths(home);
  try {
    for (const cache of [heads, codexHeads, registeredHeads]) await rm(cache, { force: true });
    return await forgetIndexed(index, ids);
  } catch {
    return false;
  }
}
