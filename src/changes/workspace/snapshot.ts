import { createHash } from "node:crypto";
import { readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join, resolve, basename, dirname } from "node:path";
import { commonDirectoryNamed, gitDirectoryNamed } from "../../base/git/git-directory.js";
import type { GitUser } from "../../base/git/git-user.js";
import { systemProblem } from "../../base/system-error.js";
import type { KeptFile, ChangeRecord, KeptFolder, LeftOutFile, OpenSnapshot } from "../../messages/change-record.js";
import { repositoryOf, type ReadRules } from "../../tools/search/ignore-rules.js";
import { gitTextIn, rulesIn } from "../../tools/search/rules-in.js";
import { ChangeFolder, type WrittenRecord } from "./change-folder.js";
import { compareFolders, compareTrees } from "./compare-trees.js";
import { ContentStore, hashOf } from "./content-store.js";
import { excludesFileIn } from "./git-config.js";
import { defaultLimits, UntrackedError, type WorkspaceLimits } from "./limits.js";
import { sweepStray } from "./sweep-stray.js";
import { takeAgain, takeTree, type TreeFile } from "./take-tree.js";
import { folderAt, type FoundFolder, type Walk } from "./walk.js";

/** Where what is needed to know the changes of a conversation's turns is kept. */
export interface SnapshotPlaces {
  /** Below it a folder for each workspace, with the contents of its files as they last were. */
  readonly workspaces: string;
  /** Beside the rollout: what turns changed. */
  readonly folder: string;
  /** What is never part of a workspace, such as where all this is kept. */
  readonly outside: readonly string[];
  /** How much is kept for the conversation. */
  readonly maxBytes: number;
  /** What must not be kept. */
  readonly secrets: readonly string[];
  /** Whose git it is; without it only what the repository itself says counts. */
  readonly gitUser?: GitUser;
}

export interface SnapshotRequest extends SnapshotPlaces {
  readonly cwd: string;
  readonly turnId: string;
  readonly now: number;
  readonly limits?: WorkspaceLimits;
}

/** What a turn changed. */
export interface KeptChanges {
  readonly turnId: string;
  readonly files: readonly KeptFile[];
  /** Those that were made or removed. */
  readonly keptFolders: readonly KeptFolder[];
  readonly leftOut: readonly LeftOutFile[];
  /** Where contents are looked for. */
  readonly folders: readonly string[];
  /** Why nothing is known of files that were not there before. */
  readonly incomplete?: string;
  /** Absent when it could not be kept, so that it cannot be shown again or taken back. */
  readonly record?: WrittenRecord;
  readonly notKept?: string;
}

export type SnapshotOutcome =
  | { readonly status: "taken"; readonly settled?: KeptChanges }
  /** Nothing can be said about what the turn changes. */
  | { readonly status: "untracked"; readonly reason: string; readonly settled?: KeptChanges }
  /** The workspace is our own. */
  | { readonly status: "outside" };

/** A workspace nobody has worked in for so long is looked at anew. */
const forgottenMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Remembers all files of a workspace as they are, before a turn changes the first of them. A turn that died is ended
 * first; one that goes on keeps what it has.
 */
export async function takeSnapshot(request: SnapshotRequest): Promise<SnapshotOutcome> {
  const { turnId, now } = request;
  const changes = new ChangeFolder(request.folder);
  const open = await changes.open();
  if (open?.turn_id === turnId) return { status: "taken" };
  const settled = open === undefined ? undefined : orNothing(() => settledChanges(request, open));
  const said = settled === undefined ? {} : { settled };
  try {
    const root = realpathSync(request.cwd);
    const where = walkOf(request, root);
    if (where.outside.some((folder) => `${root}/`.startsWith(`${folder}/`))) return { status: "outside" };
    forgetOld(request.workspaces, now);
    const store = storeOf(request.workspaces, root);
    const found: FoundFolder[] = [];
    const onStray = (path: string): void => sweepStray(join(root, path), now);
    const rules = readExcludes(root, request.gitUser);
    const onFolder = (folder: FoundFolder) => found.push(folder);
    const files = takeTree(store, { ...where, excludes: rules, onStray, onFolder }, now);
    const tree = store.put(Buffer.from(JSON.stringify(files)));
    const folders = store.put(Buffer.from(JSON.stringify(found)));
    const excludes = store.put(Buffer.from(JSON.stringify(rules)));
    store.flush();
    changes.begin({ version: 1, turn_id: turnId, root, tree, folders, excludes, at: new Date(now).toISOString() });
    return { status: "taken", ...said };
  } catch (error) {
    return { status: "untracked", reason: untrackedReason(error), ...said };
  }
}

/** What has become of the files since the snapshot of a turn was taken; undefined when nothing has. */
export async function endSnapshot(request: SnapshotRequest): Promise<KeptChanges | undefined> {
  const open = await new ChangeFolder(request.folder).open();
  return open?.turn_id === request.turnId ? settledChanges(request, open) : undefined;
}

/** The same for a turn that may still be under way, so that nothing of it is ended. */
export function currentChanges(places: SnapshotPlaces, open: OpenSnapshot, now: number): KeptChanges | undefined {
  const { turn_id: turnId, root } = open;
  const store = storeOf(places.workspaces, root);
  const written = store.get(open.tree);
  if (written === undefined) return undefined;
  const before = JSON.parse(written.toString()) as TreeFile[];
  const old = keptJson(store, open.folders) as FoundFolder[] | undefined;
  const excludes = (keptJson(store, open.excludes) as string[] | undefined) ?? readExcludes(root, places.gitUser);
  const { tree, found, incomplete } = treeNow(store, { ...walkOf(places, root), excludes }, before, old, now);
  const { files, leftOut } = compareTrees(store, before, tree);
  if (files.length + leftOut.length === 0 && incomplete === undefined) return undefined;
  const keptFolders = old === undefined ? [] : compareFolders(old, found);
  const folders = [places.folder, store.folder];
  return { turnId, files, keptFolders, leftOut, folders, ...(incomplete && { incomplete }) };
}

/** Undefined where nobody kept it. */
function keptJson(store: ContentStore, name: string | undefined): unknown {
  const written = name === undefined ? undefined : store.get(name);
  return written && JSON.parse(written.toString());
}

/**
 * The files now, by the rules that held before: a turn that changes what is ignored has made and deleted nothing by that.
 * Where they have become too many, those there were before.
 */
function treeNow(
  store: ContentStore,
  where: Walk,
  before: readonly TreeFile[],
  folders: readonly FoundFolder[] | undefined,
  now: number,
) {
  const readRules = rulesBefore(store, where.root, before, folders);
  const found: FoundFolder[] = [];
  try {
    const tree = takeTree(store, { ...where, readRules, onFolder: (folder) => found.push(folder) }, now);
    return { tree, found };
  } catch (error) {
    if (!(error instanceof UntrackedError)) throw error;
    const left = folders?.filter(({ path }) => folderAt(where.root, path) !== undefined) ?? [];
    return { tree: takeAgain(store, where, before), found: left, incomplete: error.message };
  }
}

/** What a turn that died has changed must not keep the next one from being tracked. */
function orNothing<T>(work: () => T | undefined): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Ends a turn, and keeps what it changed. */
function settledChanges(request: SnapshotRequest, open: OpenSnapshot): KeptChanges | undefined {
  const changes = new ChangeFolder(request.folder);
  try {
    const found = currentChanges(request, open, request.now);
    return found && { ...found, ...kept(request, changes, open, found) };
  } finally {
    changes.end();
  }
}

function kept(
  { maxBytes, workspaces, now }: SnapshotRequest,
  changes: ChangeFolder,
  { root, turn_id }: OpenSnapshot,
  { files, keptFolders, leftOut }: KeptChanges,
): Pick<KeptChanges, "record" | "notKept"> {
  const source = storeOf(workspaces, root);
  const versions = files.flatMap(({ before, after }) => [before, after].filter((version) => version !== null));
  const bytes = versions.reduce((sum, version) => sum + version.bytes, 0);
  if (changes.bytes + bytes > maxBytes) {
    return { notKept: `more than ${maxBytes / 1e6} MB would be kept (persistence.maxBlobMegabytes)` };
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

/** The copy of a workspace's files as they last were. */
export function storeOf(workspaces: string, root: string): ContentStore {
  return new ContentStore(join(workspaces, createHash("sha256").update(root).digest("hex").slice(0, 32)));
}

function walkOf({ outside, secrets, limits = defaultLimits }: Partial<SnapshotRequest> & SnapshotPlaces, root: string) {
  return { root, outside: outside.map(realOr), limits, secrets };
}

function realOr(path: string): string {
  return orNothing(() => realpathSync(path)) ?? path;
}

function forgetOld(workspaces: string, now: number): void {
  try {
    for (const name of readdirSync(workspaces)) {
      const folder = join(workspaces, name);
      if (now - statSync(folder).mtimeMs > forgottenMs) rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    // There is none yet, or somebody else is removing it.
  }
}

function untrackedReason(error: unknown): string {
  if (error instanceof UntrackedError) return error.message;
  return systemProblem(error)?.message ?? (error instanceof Error ? error.message : String(error));
}

/**
 * The rules by which git ignores files that stand in no `.gitignore`: its user's, then the clone's own, which count before
 * them. Git is not run: what a repository configures could have it run anything.
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
 * The rules that held before a turn. A folder that was not there then has those that moved with it: what was ignored in
 * the old place was not made in the new one. Rules that are new count nowhere, so that none can hide what a turn does.
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
