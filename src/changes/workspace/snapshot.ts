import { createHash } from "node:crypto";
import { readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join, resolve, basename, dirname } from "node:path";
import { errorMessage } from "../../base/error-message.js";
import { commonDirectoryNamed, gitDirectoryNamed } from "../../base/git/git-directory.js";
import type { GitUser } from "../../base/git/git-user.js";
import { systemProblem } from "../../base/system-error.js";
import type {
  KeptFile,
  ChangeRecord,
  KeptFolder,
  LeftOutFile,
  OpenSnapshot,
  KeptVersion,
} from "../../messages/tools/change-record.js";
import { repositoryOf, type ReadRules, gitTextIn, rulesIn } from "../../tools/search/ignore-rules.js";
import type { FileVersion } from "../changed-file.js";
import { TurnDiffTracker } from "../turn-diff-tracker.js";
import { ChangeFolder, type WrittenRecord } from "./change-folder.js";
import { ContentStore, hashOf } from "./content-store.js";
import { excludesFileIn } from "./git-config.js";
import { compareFolders, compareTrees, refreshTree, storeTree, type TreeFile } from "./tree.js";
import {
  defaultLimits,
  UntrackedError,
  type WorkspaceLimits,
  folderAt,
  type FoundFolder,
  type Walk,
  removeLitter,
} from "./walk.js";

/** The folders and limits used to track the changes of a conversation's turns. */
export interface SnapshotPlaces {
  /** Contains one folder per workspace with the last known contents of its files. */
  readonly workspaces: string;
  /** The folder beside the rollout that stores the changes of its turns. */
  readonly folder: string;
  /** Folders that are never part of a workspace, such as cody's own. */
  readonly outside: readonly string[];
  /** Maximum size of the contents stored for the conversation. */
  readonly maxBytes: number;
  /** Files that contain one of these secrets are not stored. */
  readonly secrets: readonly string[];
  /** The user's git configuration; without it only the rules in the repository apply. */
  readonly gitUser?: GitUser;
}

export interface SnapshotRequest extends SnapshotPlaces {
  readonly cwd: string;
  readonly turnId: string;
  readonly now: number;
  readonly limits?: WorkspaceLimits;
}

/** The changes made by a turn. */
export interface StoredChanges {
  readonly turnId: string;
  readonly files: readonly KeptFile[];
  /** The folders that were created or removed. */
  readonly keptFolders: readonly KeptFolder[];
  readonly leftOut: readonly LeftOutFile[];
  /** Folders whose stores hold the contents. */
  readonly folders: readonly string[];
  /** Reason why new files could not be listed. */
  readonly incomplete?: string;
  /** Absent when the changes could not be stored; they can then be neither shown again nor undone. */
  readonly record?: WrittenRecord;
  readonly notKept?: string;
}

export type SnapshotOutcome =
  | { readonly status: "taken"; readonly settled?: StoredChanges }
  /** The turn's changes cannot be determined. */
  | { readonly status: "untracked"; readonly reason: string; readonly settled?: StoredChanges }
  /** The workspace is one of cody's own folders. */
  | { readonly status: "outside" };

/** Cached contents of a workspace unused for this long are deleted. */
const forgottenMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Records all files of a workspace before a turn changes the first of them. The open snapshot of a turn that died is
 * settled first; a turn that already has a snapshot keeps it.
 */
export async function takeSnapshot(request: SnapshotRequest): Promise<SnapshotOutcome> {
  const { turnId, now } = request;
  const changes = new ChangeFolder(request.folder);
  const open = await changes.open();
  if (open?.turn_id === turnId) return { status: "taken" };
  const settled = open === undefined ? undefined : orUndefined(() => finishSnapshot(request, open));
  const previous = settled === undefined ? {} : { settled };
  try {
    const root = realpathSync(request.cwd);
    const walkOptions = walkOf(request, root);
    if (walkOptions.outside.some((folder) => `${root}/`.startsWith(`${folder}/`))) return { status: "outside" };
    removeOldSnapshots(request.workspaces, now);
    const store = storeOf(request.workspaces, root);
    const found: FoundFolder[] = [];
    const removeStray = (path: string): void => removeLitter(join(root, path), now);
    const rules = readExcludes(root, request.gitUser);
    const onFolder = (folder: FoundFolder) => found.push(folder);
    const files = storeTree(store, { ...walkOptions, excludes: rules, onStray: removeStray, onFolder }, now);
    const tree = store.put(Buffer.from(JSON.stringify(files)));
    const folders = store.put(Buffer.from(JSON.stringify(found)));
    const excludes = store.put(Buffer.from(JSON.stringify(rules)));
    store.flush();
    changes.begin({ version: 1, turn_id: turnId, root, tree, folders, excludes, at: new Date(now).toISOString() });
    return { status: "taken", ...previous };
  } catch (error) {
    return { status: "untracked", reason: untrackedReason(error), ...previous };
  }
}

/** Ends a turn's snapshot and returns what changed since it was taken; undefined when nothing did. */
export async function endSnapshot(request: SnapshotRequest): Promise<StoredChanges | undefined> {
  const open = await new ChangeFolder(request.folder).open();
  return open?.turn_id === request.turnId ? finishSnapshot(request, open) : undefined;
}

/** Returns the changes of a turn that may still be running, without ending its snapshot. */
export function currentChanges(places: SnapshotPlaces, open: OpenSnapshot, now: number): StoredChanges | undefined {
  const { turn_id: turnId, root } = open;
  const store = storeOf(places.workspaces, root);
  const written = store.get(open.tree);
  if (written === undefined) return undefined;
  const before = JSON.parse(written.toString()) as TreeFile[];
  const old = readStoredJson(store, open.folders) as FoundFolder[] | undefined;
  const excludes = (readStoredJson(store, open.excludes) as string[] | undefined) ?? readExcludes(root, places.gitUser);
  const { tree, found, incomplete } = currentTree(store, { ...walkOf(places, root), excludes }, before, old, now);
  const { files, leftOut } = compareTrees(store, before, tree);
  if (files.length + leftOut.length === 0 && incomplete === undefined) return undefined;
  const keptFolders = old === undefined ? [] : compareFolders(old, found);
  const folders = [places.folder, store.folder];
  return { turnId, files, keptFolders, leftOut, folders, ...(incomplete && { incomplete }) };
}

/** Returns undefined when the content was not stored. */
function readStoredJson(store: ContentStore, name: string | undefined): unknown {
  const written = name === undefined ? undefined : store.get(name);
  return written && JSON.parse(written.toString());
}

/**
 * Lists the current files by the ignore rules from before the turn, so that a changed `.gitignore` does not look like
 * created or deleted files. If there are too many files now, only those known before are listed.
 */
function currentTree(
  store: ContentStore,
  walkOptions: Walk,
  before: readonly TreeFile[],
  folders: readonly FoundFolder[] | undefined,
  now: number,
) {
  const readRules = rulesBefore(store, walkOptions.root, before, folders);
  const found: FoundFolder[] = [];
  try {
    const tree = storeTree(store, { ...walkOptions, readRules, onFolder: (folder) => found.push(folder) }, now);
    return { tree, found };
  } catch (error) {
    if (!(error instanceof UntrackedError)) throw error;
    const left = folders?.filter(({ path }) => folderAt(walkOptions.root, path) !== undefined) ?? [];
    return { tree: refreshTree(store, walkOptions, before), found: left, incomplete: error.message };
  }
}

/** A failure while settling a dead turn must not prevent tracking of the next one. */
function orUndefined<T>(work: () => T | undefined): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Ends a turn's snapshot and stores its changes. */
function finishSnapshot(request: SnapshotRequest, open: OpenSnapshot): StoredChanges | undefined {
  const changes = new ChangeFolder(request.folder);
  try {
    const found = currentChanges(request, open, request.now);
    return found && { ...found, ...storeChanges(request, changes, open, found) };
  } finally {
    changes.end();
  }
}

function storeChanges(
  { maxBytes, workspaces, now }: SnapshotRequest,
  changes: ChangeFolder,
  { root, turn_id }: OpenSnapshot,
  { files, keptFolders, leftOut }: StoredChanges,
): Pick<StoredChanges, "record" | "notKept"> {
  const source = storeOf(workspaces, root);
  const versions = files.flatMap(({ before, after }) => [before, after].filter((version) => version !== null));
  const bytes = versions.reduce((sum, version) => sum + version.bytes, 0);
  if (changes.bytes + bytes > maxBytes) {
    return { notKept: `the stored files would be larger than ${maxBytes / 1e6} MB (persistence.maxBlobMegabytes)` };
  }
  const target = changes.contents();
  for (const { sha256 } of versions) {
    const content = target.has(sha256) ? undefined : source.get(sha256);
    if (content !== undefined) target.put(content);
  }
  target.flush();
  const at = new Date(now).toISOString();
  const record: ChangeRecord = {
    version: 1,
    kind: "turn",
    turn_id,
    root,
    at,
    files: [...files],
    folders: [...keptFolders],
    left_out: [...leftOut],
  };
  return { record: changes.add(record) };
}

/** Returns the store with the last known contents of a workspace's files. */
export function storeOf(workspaces: string, root: string): ContentStore {
  return new ContentStore(join(workspaces, createHash("sha256").update(root).digest("hex").slice(0, 32)));
}

function walkOf({ outside, secrets, limits = defaultLimits }: Partial<SnapshotRequest> & SnapshotPlaces, root: string) {
  return { root, outside: outside.map(realOr), limits, secrets };
}

function realOr(path: string): string {
  return orUndefined(() => realpathSync(path)) ?? path;
}

function removeOldSnapshots(workspaces: string, now: number): void {
  try {
    for (const name of readdirSync(workspaces)) {
      const folder = join(workspaces, name);
      if (now - statSync(folder).mtimeMs > forgottenMs) rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    // The folder does not exist yet, or another process is removing it.
  }
}

function untrackedReason(error: unknown): string {
  if (error instanceof UntrackedError) return error.message;
  return systemProblem(error)?.message ?? errorMessage(error);
}

/**
 * Reads git's ignore rules outside of `.gitignore` files: the user's, then the clone's own, which take precedence.
 * Git itself is not run, because a repository's configuration could make it execute anything.
 */
export function readExcludes(root: string, user: GitUser | undefined): string[] {
  const repository = repositoryOf(root);
  if (repository === undefined) return [];
  const directory = gitDirectoryNamed(repository, gitTextIn(join(repository, ".git")));
  const common = commonDirectoryNamed(directory, gitTextIn(join(directory, "commondir")));
  const configs = [...(user?.configs ?? []), join(common, "config")];
  const named = configs.flatMap((file) => excludesFileIn(gitTextIn(file)) ?? []).at(-1);
  const own = named === undefined ? user?.ignore : pathOf(named, repository, user);
  return [own === undefined ? "" : gitTextIn(own), gitTextIn(join(common, "info", "exclude"))];
}

function pathOf(path: string, repository: string, user: GitUser | undefined): string | undefined {
  if (path === "") return undefined;
  if (!path.startsWith("~")) return resolve(repository, path);
  return user?.home !== undefined && path.startsWith("~/") ? join(user.home, path.slice(2)) : undefined;
}

/**
 * Returns the ignore rules from before a turn. A new folder uses known rules that were moved with it, so that files
 * ignored in the old place do not appear as created. New rules are not applied, so that a turn cannot hide its
 * changes with them.
 */
function rulesBefore(
  store: ContentStore,
  root: string,
  files: readonly TreeFile[],
  folders: readonly FoundFolder[] | undefined,
): ReadRules {
  const old = new Map(files.map(({ path, content }) => [join(root, path), content]));
  const known = new Set(files.flatMap(({ path, content }) => (basename(path) === ".gitignore" ? hashIn(content) : [])));
  const places = folders && new Set([root, ...folders.map(({ path }) => join(root, path))]);
  return (file) => {
    const [hash] = hashIn(old.get(file));
    if (hash !== undefined) return store.get(hash)?.toString() ?? "";
    if (places === undefined || places.has(dirname(file))) return "";
    const text = rulesIn(file);
    return known.has(hashOf(Buffer.from(text))) ? text : "";
  };
}

function hashIn(content: TreeFile["content"] | undefined): string[] {
  return content !== undefined && "sha256" in content ? [content.sha256] : [];
}

/** Records changed files with their contents from these folders. A file with a missing content is left out. */
export function diffChanges(
  { files, folders }: { readonly files: readonly KeptFile[]; readonly folders: readonly string[] },
  tracker = new TurnDiffTracker(),
): TurnDiffTracker {
  const stores = folders.map((folder) => new ContentStore(folder));
  for (const { path, before, after } of files) {
    const [old, now] = [before && loaded(stores, before), after && loaded(stores, after)];
    if (old === undefined || now === undefined) continue;
    tracker.record({ path, before: old ?? undefined, after: now ?? undefined });
  }
  return tracker;
}

function loaded(stores: readonly ContentStore[], { mode, sha256 }: KeptVersion): FileVersion | undefined {
  const [bytes] = stores.flatMap((store) => store.get(sha256) ?? []);
  return bytes && { mode, bytes };
}
