import { lstat, readdir, readFile, access, constants, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Stats } from "node:fs";
import { saveFailureReason } from "../../../../actors/rollout-writer/save-failure.js";
import { ConversationNotFoundError, InvalidInputError } from "../../../../base/errors.js";
import { defaultLimits, UntrackedError, walk, leftoverKind } from "../../../../changes/workspace/walk.js";
import { parseConfig, readConfigFile } from "../../../../config/files/config-file.js";
import { homePaths } from "../../../../config/paths.js";
import type { LockOwner } from "../../../../messages/actors/rollout-writer.js";
import { blobFolder, blobHash, isBlobName } from "../../../../rollouts/file/blobs.js";
import { isOwnerDead, readLock, describeOwner, lockHolder, isStaleSocket } from "../../../../rollouts/file/lock.js";
import { idFromFileName, snapshotFolder } from "../../../../rollouts/layout.js";
import { checkRollout } from "../../../../rollouts/repair/repair-scan.js";
import type { StoreEntry } from "../../../../rollouts/repair/store-entries.js";
import type { Finding, StoreFinding } from "./report.js";

const ownFiles =
  /^(?:config\.(?:json|ya?ml)|heads\.json|codex-(?:heads|pins)\.json|index\.sqlite|relinks\.json|retention\.json|tokens\.json)/;

const temporaryFile = /\.tmp$|\.lock(?:\.|$)/;

const readableByOthers = 0o044;

const writableByOthers = 0o022;

const writableByEverybody = 0o002;

const sticky = 0o1000;

/** Temporary files exist only while a file is written, so one that is older than this was left behind. */
const staleMs = 60 * 60 * 1000;

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
export async function checkEntry(entry: StoreEntry, checkContext: CheckContext): Promise<Finding[]> {
  const { path } = entry;
  if (entry.kind === "unreadable_folder") return [{ kind: "unreadable", path, reason: saveFailureReason(entry.error) }];
  const id = entry.kind === "rollout" ? idFromFileName(entry.name) : undefined;
  const named = id === undefined ? {} : { id };
  try {
    return (await findingsOf(entry, checkContext, id)).map((finding) => ({ ...finding, ...named }));
  } catch (error) {
    checkContext.signal.throwIfAborted();
    if (error instanceof ConversationNotFoundError || isMissing(error)) return [];
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    return [{ kind: "unreadable", path, reason: saveFailureReason(error), ...named }];
  }
}

type OwnEntry = Exclude<StoreEntry, { kind: "unreadable_folder" }>;

async function findingsOf(
  { kind, path }: OwnEntry,
  checkContext: CheckContext,
  id: string | undefined,
): Promise<Finding[]> {
  const { uid, us, now } = checkContext;
  const stats = await lstat(path);
  // A folder may be a symbolic link; its creator wanted it to be followed, so it is not checked.
  if (kind === "folder") return stats.isDirectory() ? rightsOf("folders") : [];
  if (kind === "blobs" || kind === "snapshots") {
    const folderOf = kind === "blobs" ? blobFolder : snapshotFolder;
    return stats.isDirectory() ? [...rightsOf("files"), ...(await checkBlobs(path, checkContext, folderOf))] : [];
  }
  if (!stats.isFile()) return kind === "rollout" ? [{ kind: "not_regular", path }] : [];
  const rights = rightsOf("files");
  if (kind === "lock") return [...rights, ...(await checkLock(path, us))];
  if (kind === "temporary" && isStaleTemporary(stats, now)) return [...rights, { kind: "temporary", path }];
  if (id === undefined) return rights;
  const isInUse = async (): Promise<boolean> => (await lockHolder(path, us)) !== undefined;
  return [...rights, ...(await checkRollout({ path, conversationId: id }, { signal: checkContext.signal, isInUse }))];

  function rightsOf(what: "files" | "folders"): StoreFinding[] {
    return checkRights({ path, stats, uid, ownership: checkContext[what] });
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Checks the contents stored beside a rollout; `folderOf` maps a rollout to their folder. */
async function checkBlobs(
  folder: string,
  checkContext: CheckContext,
  folderOf: (rolloutPath: string) => string,
): Promise<StoreFinding[]> {
  const names = (await readdir(folder)).toSorted();
  const findings: StoreFinding[] = [];
  for (const name of names) {
    checkContext.signal.throwIfAborted();
    const path = join(folder, name);
    const stats = await lstat(path);
    if (!stats.isFile()) continue;
    findings.push(...checkRights({ path, stats, uid: checkContext.uid, ownership: checkContext.files }));
    if (isBlobName(name)) {
      if (blobHash(await readFile(path)) !== name) findings.push({ kind: "changed_blob", path });
    } else if (name.endsWith(".tmp") && isStaleTemporary(stats, checkContext.now))
      findings.push({ kind: "temporary", path });
  }
  return (await hasRollout(folder, folderOf)) || names.length === 0
    ? findings
    : [...findings, { kind: "orphaned_blobs", path: folder, blobs: names.length }];
}

async function hasRollout(folder: string, folderOf: (rolloutPath: string) => string): Promise<boolean> {
  const rollouts = (await readdir(dirname(folder))).filter((name) => idFromFileName(name) !== undefined);
  return rollouts.some((name) => basename(folderOf(join(dirname(folder), name))) === basename(folder));
}

/** Checks whether the owner of a lock is alive, as far as this process can tell. */
async function checkLock(path: string, self: LockOwner): Promise<StoreFinding[]> {
  const lock = await readLock(path);
  if (lock.status === "none") return [];
  if (lock.status === "garbled") return [{ kind: "garbled_lock", path }];
  const { owner } = lock;
  if (await isOwnerDead(owner, self)) return [{ kind: "dead_lock", path, pid: owner.pid }];
  const isNear = owner.bootId === self.bootId && owner.pidNamespace === self.pidNamespace;
  return isNear ? [] : [{ kind: "far_lock", path, owner: describeOwner(owner, self) }];
}

function isStaleTemporary({ mtimeMs }: Pick<Stats, "mtimeMs">, now: number): boolean {
  return now - mtimeMs > staleMs;
}

/**
 * `ours`: must be private to this user. `chosen`: made by others or the user, so it only must not be world-writable.
 */
export type Ownership = "ours" | "chosen";

interface RightsInput {
  readonly path: string;
  readonly stats: Stats;
  /** The current user. */
  readonly uid: number;
  readonly ownership: Ownership;
}

/** Checks that a file or folder belongs to the current user and to nobody else. */
export function checkRights({ path, stats, uid, ownership }: RightsInput): StoreFinding[] {
  if (stats.uid !== uid) return [{ kind: "foreign_owner", path, uid: stats.uid }];
  const others = ownership === "ours" ? rightsOfOthers(stats.mode) : rightsOfEverybody(stats.mode);
  if (others === undefined) return [];
  const remedy = ownership === "chosen" ? "o-w" : stats.isDirectory() ? "700" : "600";
  return [{ kind: "exposed", path, mode: (stats.mode & 0o777).toString(8), others, remedy }];
}

function rightsOfOthers(mode: number): string | undefined {
  const verbs = [mode & readableByOthers ? "read" : "", mode & writableByOthers ? "change" : ""];
  return verbs.filter((verb) => verb !== "").join(" and ") || undefined;
}

/** In a sticky folder everybody may create files, but change only their own. */
function rightsOfEverybody(mode: number): string | undefined {
  return mode & writableByEverybody && !(mode & sticky) ? "change" : undefined;
}

/** Checks that conversations can be stored in the directory, or that it can be created. */
export async function checkDirectory(path: string, uid: number, ownership: Ownership): Promise<StoreFinding[]> {
  const place = await nearest(path);
  // An unreachable path is reported by the check that reads it.
  if (place === undefined) return [];
  if (!place.stats.isDirectory()) return [{ kind: "not_a_directory", path }];
  const rights = place.path === path ? checkRights({ path, stats: place.stats, uid, ownership }) : [];
  try {
    await access(place.path, constants.W_OK | constants.X_OK);
    return rights;
  } catch (error) {
    return [...rights, { kind: "unwritable", path, reason: saveFailureReason(error) }];
  }
}

/** The path itself, or its nearest existing parent. */
async function nearest(path: string): Promise<{ path: string; stats: Stats } | undefined> {
  try {
    return { path, stats: await stat(path) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? await nearest(dirname(path)) : undefined;
  }
}

/** Checks the files beside the conversations: configuration, pointers to active conversations, debug log, trash. */
export async function checkHome(home: string, checkContext: { uid: number; now: number }): Promise<StoreFinding[]> {
  const { active, logs, trash } = homePaths(home);
  const inHome = (await namesIn(home)).filter((name) => ownFiles.test(name));
  const paths = [home, ...inHome.map((name) => join(home, name))];
  for (const folder of [active, logs, trash]) {
    const names = await namesIn(folder);
    if (names.length > 0) paths.push(folder, ...names.map((name) => join(folder, name)));
  }
  const findings: StoreFinding[] = [];
  for (const path of paths) findings.push(...(await checkFile(path, checkContext)));
  return [...findings, ...(await checkConfig(home))];
}

/** Follows links, because a configuration may be stored elsewhere. */
async function checkFile(path: string, { uid, now }: { uid: number; now: number }): Promise<StoreFinding[]> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return [];
  const isLeft = stats.isFile() && temporaryFile.test(path) && isStaleTemporary(stats, now);
  const rights = checkRights({ path, stats, uid, ownership: "ours" });
  return isLeft ? [...rights, { kind: "temporary", path }] : rights;
}

async function checkConfig(home: string): Promise<StoreFinding[]> {
  let path = home;
  try {
    const file = await readConfigFile(home);
    path = file?.path ?? home;
    const { warnings } = file === undefined ? { warnings: [] } : await parseConfig(file);
    return warnings.map((reason) => ({ kind: "unusable_config", path, reason }));
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return [{ kind: "unusable_config", path, reason: error.message }];
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.toSorted();
}

/** Checks the directory with the sockets of processes that write conversations. */
export async function checkSockets(
  directory: string,
  checkContext: { uid: number; now: number },
): Promise<StoreFinding[]> {
  const stats = await lstat(directory).catch(() => undefined);
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [{ kind: "not_a_directory", path: directory }];
  const rights = checkRights({ path: directory, stats, uid: checkContext.uid, ownership: "ours" });
  const sockets = await countLeft(directory, checkContext.now);
  return sockets === 0 ? rights : [...rights, { kind: "dead_sockets", path: directory, sockets }];
}

async function countLeft(directory: string, now: number): Promise<number> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(".sock"));
  let left = 0;
  for (const name of names) {
    if (await isStaleSocket(join(directory, name), now).catch(() => false)) left += 1;
  }
  return left;
}

/** Finds temporary files that a dead process left while it replaced a file of this folder. */
export function checkWorkspace(root: string, outside: readonly string[], now: number): StoreFinding[] {
  const findings: StoreFinding[] = [];
  const onStray = (name: string): void => {
    const path = join(root, name);
    const left = leftoverKind(path, now);
    if (left !== undefined) findings.push({ kind: left === "litter" ? "temporary" : "last_copy", path });
  };
  try {
    walk({ root, outside, limits: { ...defaultLimits, maxBytes: Number.POSITIVE_INFINITY }, secrets: [], onStray });
  } catch (error) {
    // In a folder with too many files only the first ones are checked.
    if (!(error instanceof UntrackedError)) throw error;
  }
  return findings;
}
