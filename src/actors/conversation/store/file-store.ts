import { lstat, realpath } from "node:fs/promises";
import { sep } from "node:path";
import type { GitUser } from "../../../base/git/git-user.js";
import {
  homePaths,
  type ConversationPlaces,
  isCodexDirectory,
  namedDirectories,
  namesFile,
  pinsFile,
} from "../../../config/paths.js";
import { bareId } from "../../../base/text/conversation-id.js";
import { ConversationNotFoundError, InvalidInputError, CodexLockError } from "../../../base/errors.js";
import type { TextRedactor } from "../../../base/text/redaction.js";
import type { SaveOutcome } from "../../../messages/actors/rollout-writer.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { registeredIn, registerInCodex } from "../../../rollouts/list/codex-register.js";
import { lineEncoder } from "../../../rollouts/file/encode.js";
import { nodeFileSystem } from "../../../rollouts/file/file-system.js";
import { newRolloutPath } from "../../../rollouts/layout.js";
import { findById, findByIdOrName, type NamedDirectory } from "../../../rollouts/list/find-conversation.js";
import { type RolloutName, rolloutsIn } from "../../../rollouts/list/layout-files.js";
import { DirectoryList } from "../../../rollouts/list/directory-list.js";
import { headCachePath } from "../../../rollouts/list/head-cache.js";
import { type ConversationSummary, datedFiles, inParallel, type ListOptions } from "../../../rollouts/list/list.js";
import {
  readNames,
  withNames,
  writeName,
  readPins,
  withPins,
  writePin,
} from "../../../rollouts/list/names-and-pins.js";
import { readPendingApproval } from "../../../rollouts/list/pending-approvals.js";
import { nodeRepairFiles as files } from "../../../rollouts/file/replacement.js";
import { rolloutId } from "../../../rollouts/file/rollout-id.js";
import type { CpuPool } from "../../../workers/cpu-pool.js";
import { BlobStore } from "../../rollout-writer/blob-store.js";
import type { CodexLocks, CodexLock } from "../../rollout-writer/rollout-locks.js";
import { makeDurableDirectory } from "../../rollout-writer/durable-directory.js";
import type { OpenRequest, Rollout } from "../../rollout-writer/rollout.js";
import { type RolloutOutbox, unsavedRollout } from "../../rollout-writer/outbox.js";
import { saveFailureReason } from "../../rollout-writer/save-failure.js";
import { fileLines, lazyFileLines, foldLines, loadLargeRollout } from "./load-rollout.js";
import { snapshotPlaces, type OpenedRollout, type Store, type StoreOpen } from "./store.js";

/** Maximum number of cached paths; resuming asks for the same few again and again. */
const maxKnown = 1_000;

/** Of larger files only the lines that still have an effect are validated and folded. */
const maxOwnBytes = 4 * 1024 * 1024;

/** Starting two threads takes more CPU time than reading so many bytes in this one. */
const minBytesForThreads = 16 * 1024 * 1024;

interface FileStoreParts {
  readonly places: ConversationPlaces;
  /** Without an outbox, conversations can be read but nothing is written. */
  readonly outbox: RolloutOutbox | undefined;
  /** Absent when no file is written that Codex could be writing too. */
  readonly codexLocks?: CodexLocks | undefined;
  readonly pool: CpuPool;
  /** Redacts secrets in everything that is written. */
  readonly redactor: TextRedactor;
  /** The known secrets: a workspace file that contains one is not stored. */
  readonly secrets: readonly string[];
  /** The user whose git configuration determines the ignored files of a workspace. */
  readonly gitUser?: GitUser;
  /** Maximum bytes of long outputs stored per conversation. */
  readonly maxBlobBytes: number;
}

type SavedMetadata = ConversationSummary & { readonly name?: string; readonly pinned?: true };

/** Stores conversations as files: new ones in one layout, existing ones in any. */
export function fileStore(parts: FileStoreParts): Store {
  const { places, outbox, codexLocks, pool, redactor, secrets, gitUser, maxBlobBytes } = parts;
  const { layout, directory, elsewhere, alsoListed, codexHome, home } = places;
  const { codexRegister } = homePaths(home);
  const named = namedDirectories(places);
  const directories = [directory, ...elsewhere];
  const known = new KnownPaths();
  const encode = lineEncoder(redactor);

  async function pathOf(conversationId: string): Promise<string> {
    const before = await known.get(conversationId);
    if (before !== undefined) return before;
    const found = await findById(directories, conversationId);
    if (found === undefined) throw new ConversationNotFoundError(conversationId);
    known.set(found);
    return found.path;
  }

  function newPath({ conversationId, now, cwd }: StoreOpen): string {
    if (layout === "codex" && bareId(conversationId) === conversationId) {
      throw new InvalidInputError(
        "in layout codex the id of a conversation must be a UUID, because Codex accepts no other",
      );
    }
    return newRolloutPath(layout, directory, { conversationId, now, cwd });
  }

  /** Only conversations in the listed directories have an index. */
  async function indexed(
    what: string,
    conversationId: string,
    write: (place: NamedDirectory) => Promise<void>,
  ): Promise<SaveOutcome> {
    if (outbox === undefined) return { status: "off" };
    try {
      const path = await pathOf(conversationId);
      const place = named.find((candidate) => path.startsWith(candidate.directory + sep));
      if (place !== undefined) await write(place);
      return { status: "saved" };
    } catch (error) {
      return {
        status: "not_saved",
        reason: `Cannot save ${what}; lists will not show it: ${saveFailureReason(error)}`,
      };
    }
  }

  /** Registers a rollout in Codex's directory, so that lists find it; without an entry only `--codex` shows it. */
  async function registered(opened: OpenedRollout, rollout: RolloutName): Promise<OpenedRollout> {
    try {
      await makeDurableDirectory(nodeFileSystem, home);
      await registerInCodex(codexRegister, rollout);
      return opened;
    } catch (error) {
      const notice = `Cannot add ${rollout.id} to the list; only cody list --codex will show it: ${saveFailureReason(error)}`;
      return { ...opened, notice: opened.notice === undefined ? notice : `${opened.notice}\n${notice}` };
    }
  }

  const lists = new Map<string, DirectoryList>();

  /** Shares the cached heads with `cody list`. */
  function listOf(place: string): DirectoryList {
    const list =
      lists.get(place) ?? new DirectoryList({ ...cachePlace(place, places), mayWrite: outbox !== undefined });
    lists.set(place, list);
    return list;
  }

  async function listed(place: string, options: ListOptions): Promise<SavedMetadata[]> {
    const found = await listOf(place).list(options);
    return withPins(
      withNames(found, await readNames(namesFile(place, codexHome))),
      await readPins(pinsFile(place, places)),
    );
  }

  /** Lists the directory of another layout; of Codex's, only the conversations that cody has begun there. */
  async function listedElsewhere(place: string, options: ListOptions): Promise<SavedMetadata[]> {
    const only = isCodexDirectory(place, places) ? { files: await registeredIn(codexRegister, place) } : {};
    return await listed(place, { ...options, ...only });
  }

  return {
    find: async (text) => {
      const found = await findByIdOrName(named, text);
      known.set(found);
      return found.id;
    },
    adopt: async (path) => {
      // A symbolic link that the user names is followed; links in the directories of rollouts are not.
      const file = await realpath(path).catch(() => undefined);
      if (file === undefined) throw new ConversationNotFoundError(path);
      const id = await rolloutId(file);
      if (id === undefined) throw new InvalidInputError(`${path} is not a conversation: its first line has no id`);
      known.set({ id, path: file });
      return id;
    },
    has: async (conversationId) => (await findById(directories, conversationId)) !== undefined,
    findInOwnDirectory: async (conversationId) => await findById([directory], conversationId),
    holder: async (conversationId) => outbox?.holder(await pathOf(conversationId)),
    read: (conversationId) => lazyFileLines(() => pathOf(conversationId), conversationId),
    load: async (conversationId) => {
      const path = await pathOf(conversationId);
      // The reader reports problems with the file.
      const bytes = await lstat(path).then(
        ({ size }) => size,
        () => 0,
      );
      if (bytes <= maxOwnBytes) return await foldLines(fileLines(path, conversationId));
      // It is usually opened next, so the writer's thread starts meanwhile.
      outbox?.start();
      return await loadLargeRollout(bytes < minBytesForThreads ? undefined : pool, { path, conversationId, bytes });
    },
    open: async (request) => {
      const { conversationId, mode, force } = request;
      if (outbox === undefined) return { outcome: { status: "open", bytes: 0 }, rollout: unsavedRollout };
      const path = mode === "create" ? newPath(request) : await pathOf(conversationId);
      known.set({ id: conversationId, path });
      const opening = { conversationId, path, mode, force, encode };
      const isCodex = (await codexLocks?.covers(path)) ?? false;
      const opened =
        codexLocks !== undefined && isCodex
          ? await openForCodex(codexLocks, outbox, opening)
          : await outbox.open(opening);
      const isNewInCodex = isCodex && mode === "create" && opened.outcome.status === "open";
      const listing = isNewInCodex ? await registered(opened, { id: conversationId, path }) : opened;
      if (maxBlobBytes === 0) return listing;
      return {
        ...listing,
        blobs: new BlobStore({ files, rolloutPath: path, redactor, maxBytes: maxBlobBytes }),
        snapshots: snapshotPlaces(places, path, { maxBytes: maxBlobBytes, secrets, ...(gitUser && { gitUser }) }),
      };
    },
    indexName: async (conversationId, { name, timestamp }, mode) => {
      const namedAt = Date.parse(timestamp) || 0;
      return await indexed("the name", conversationId, ({ names }) =>
        writeName(names, conversationId, { name: redactor.redact(name, () => undefined), namedAt }, mode),
      );
    },
    indexPin: async (conversationId, { pinned, timestamp }, mode) => {
      const pinnedAt = Date.parse(timestamp) || 0;
      return await indexed("the pin", conversationId, (place) =>
        writePin(pinsFile(place.directory, places), conversationId, { pinned, pinnedAt }, mode),
      );
    },
    list: async ({ limit } = {}) => {
      const options = limit === undefined ? {} : { limit };
      const own = await listed(directory, options);
      const ids = new Set(own.map(({ id }) => id));
      const others = await Promise.all(alsoListed.map((place) => listedElsewhere(place, options).catch(() => [])));
      const all = [...own, ...others.flat().filter(({ id }) => !ids.has(id))];
      return all.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)).slice(0, limit);
    },
    close: async () => {
      await Promise.all(Array.from(lists.values(), (list) => list.close()));
      await outbox?.stop();
    },
    pendingApprovals: async (limit, except) => {
      const codex = alsoListed.filter((place) => isCodexDirectory(place, places));
      const own = [directory, ...alsoListed.filter((place) => !codex.includes(place))];
      const found = await Promise.all([
        ...own.map((place) => rolloutsIn(place).catch(() => [])),
        ...codex.map((place) => registeredIn(codexRegister, place).catch(() => [])),
      ]);
      const dated = await datedFiles(found.flat().filter(({ id }) => !except.has(id)));
      const newest = dated.slice(0, limit);
      const pending = await inParallel(newest, async ({ id, path }) => ({
        conversationId: id,
        saved: await readPendingApproval(path),
      }));
      return pending.flatMap(({ conversationId, saved }) =>
        saved === undefined ? [] : [{ conversationId, ...saved }],
      );
    },
    pendingApproval: async (conversationId) => {
      const saved = await readPendingApproval(await pathOf(conversationId));
      return saved && { conversationId, ...saved };
    },
  };
}

/** The cache of a directory's heads, which is that of `cody list`. */
function cachePlace(
  directory: string,
  places: ConversationPlaces,
): { directory: string; cache: string; isOwn: boolean } {
  const { conversations, heads, codexHeads, registeredHeads } = homePaths(places.home);
  if (directory === conversations) return { directory, cache: heads, isOwn: true };
  const cache = directory === places.directory ? codexHeads : registeredHeads;
  return { directory, cache: isCodexDirectory(directory, places) ? cache : headCachePath(directory), isOwn: false };
}

/** The last known paths of conversations, so that the directory tree is not searched for every lookup. */
class KnownPaths {
  readonly #paths = new Map<string, string>();

  set({ id, path }: RolloutName): void {
    this.#paths.delete(id);
    this.#paths.set(id, path);
    for (const oldest of this.#paths.keys()) {
      if (this.#paths.size <= maxKnown) break;
      this.#paths.delete(oldest);
    }
  }

  /** Returns undefined when the file no longer exists: Codex moves what it archives. */
  async get(id: string): Promise<string | undefined> {
    const path = this.#paths.get(id);
    if (path === undefined) return undefined;
    const stats = await lstat(path).catch(() => undefined);
    if (stats !== undefined) return path;
    this.#paths.delete(id);
    return undefined;
  }
}

/** Opens a rollout that Codex could be writing too: nothing is touched before we hold its lock. */
async function openForCodex(locks: CodexLocks, outbox: RolloutOutbox, request: OpenRequest): Promise<OpenedRollout> {
  const { conversationId, path, mode, force = false } = request;
  const lock = await locks.take(conversationId);
  if (lock.status === "held") {
    // Another cody process also holds our own lock, which identifies it.
    const owner = (await outbox.holder(path).catch(() => undefined)) ?? "Codex";
    return { outcome: { status: "in_use", owner }, rollout: unsavedRollout };
  }
  if (lock.status === "unavailable" && mode === "append" && !force) {
    throw new CodexLockError(conversationId, lock.reason);
  }
  const opened = await outbox.open(request);
  // No other process knows a new conversation yet, and a writer that interleaves with our lines is detected.
  if (lock.status === "unavailable") {
    return { ...opened, notice: `Do not resume ${conversationId} in Codex while it is open here: ${lock.reason}` };
  }
  if (opened.outcome.status !== "in_use") return { ...opened, rollout: new LockedRollout(opened.rollout, lock) };
  await lock.release();
  return opened;
}

/** A rollout that releases Codex's lock when it is closed. */
class LockedRollout implements Rollout {
  readonly #rollout: Rollout;
  readonly #lock: Extract<CodexLock, { status: "taken" }>;
  #closing: Promise<SaveOutcome> | undefined;

  constructor(rollout: Rollout, lock: Extract<CodexLock, { status: "taken" }>) {
    this.#rollout = rollout;
    this.#lock = lock;
  }

  get path(): string | null {
    return this.#rollout.path;
  }

  get full(): boolean {
    return this.#rollout.full;
  }

  get bytes(): number {
    return this.#rollout.bytes;
  }

  append(line: OwnLine): void {
    this.#rollout.append(line);
  }

  takeRedacted(): number {
    return this.#rollout.takeRedacted();
  }

  flush(): Promise<SaveOutcome> {
    return this.#rollout.flush();
  }

  close(): Promise<SaveOutcome> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<SaveOutcome> {
    const outcome = await this.#rollout.close();
    await this.#lock.release();
    return outcome;
  }
}
