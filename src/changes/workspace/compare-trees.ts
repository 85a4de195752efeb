import type { KeptFile, KeptFolder, KeptVersion, LeftOutFile } from "../../messages/tools/change-record.js";
import type { ContentStore } from "./content-store.js";
import type { TreeFile } from "./take-tree.js";
import type { FoundFolder } from "./walk.js";

export interface TreeChanges {
  readonly files: readonly KeptFile[];
  readonly leftOut: readonly LeftOutFile[];
}

/** Compares two trees whose contents are in one store. */
export function compareTrees(
  store: ContentStore,
  before: readonly TreeFile[],
  after: readonly TreeFile[],
): TreeChanges {
  const [old, now] = [byPath(before), byPath(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].filter((path) => !isSame(old.get(path), now.get(path)));
  const files: KeptFile[] = [];
  const leftOut: LeftOutFile[] = [];
  for (const path of paths.toSorted()) {
    const versions = [old.get(path), now.get(path)].map((file) => file && versionOf(store, file));
    const why = versions.find((version) => typeof version === "string");
    const [was, is] = versions;
    if (why !== undefined) leftOut.push({ path, why });
    else if (typeof was !== "string" && typeof is !== "string") {
      files.push({ path, before: was ?? null, after: is ?? null });
    }
  }
  return { files, leftOut };
}

/** Returns the folders that exist in only one of the two lists. */
export function compareFolders(before: readonly FoundFolder[], after: readonly FoundFolder[]): KeptFolder[] {
  const [old, now] = [permissionsIn(before), permissionsIn(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => !old.has(path) || !now.has(path))
    .toSorted()
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }));
}

function permissionsIn(folders: readonly FoundFolder[]): Map<string, number> {
  return new Map(folders.map(({ path, permissions }) => [path, permissions]));
}

function byPath(tree: readonly TreeFile[]): Map<string, TreeFile> {
  return new Map(tree.map((file) => [file.path, file]));
}

function isSame(one: TreeFile | undefined, other: TreeFile | undefined): boolean {
  if (one === undefined || other === undefined || one.mode !== other.mode) return false;
  const [a, b] = [one.content, other.content];
  return "sha256" in a ? "sha256" in b && a.sha256 === b.sha256 : "stamp" in b && a.stamp === b.stamp;
}

/** Returns the stored version, or the reason why there is no content. */
function versionOf(store: ContentStore, { mode, permissions, content }: TreeFile): KeptVersion | LeftOutFile["why"] {
  if (!("sha256" in content)) return content.why;
  const bytes = store.get(content.sha256)?.length;
  if (bytes === undefined) return "unreadable";
  return { mode, ...(permissions === undefined ? {} : { permissions }), sha256: content.sha256, bytes };
}
