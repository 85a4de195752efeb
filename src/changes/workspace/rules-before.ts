import { basename, dirname, join } from "node:path";
import { type ContentStore, hashOf } from "./content-store.js";
import type { ReadRules } from "../../tools/search/ignore-rules.js";
import { rulesIn } from "../../tools/search/rules-in.js";
import type { TreeFile } from "./take-tree.js";
import type { FoundFolder } from "./walk.js";

/**
 * The rules that held before a turn. A folder that was not there then has those that moved with it: what was ignored in
 * the old place was not made in the new one. Rules that are new count nowhere, so that none can hide what a turn does.
 */
export function rulesBefore(
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
