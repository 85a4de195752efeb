import type { Dirent } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import { realPrivatePaths } from "../policy/target-paths.js";
import type { ToolContext } from "../tool.js";
import type { IgnoreRules as Rules } from "./ignore-rules.js";
import { searchStart } from "./ripgrep.js";

/** After this many files and folders, the search for links stops. */
const maxEntries = 20_000;
const maxTargetChars = 200;

export interface FoundLink {
  /** Relative to the working folder. */
  readonly path: string;
  /** The path and its target. */
  readonly line: string;
}

/** The symbolic links in a folder and its subfolders, which ripgrep skips; none of them is followed. */
export async function linksIn(path: string, glob: string | undefined, context: ToolContext): Promise<FoundLink[]> {
  const { cwd, start } = await searchStart(path, context);
  const root = resolve(cwd, start);
  if (root === "/") return [];
  const [{ IgnoreRules }, matches] = await Promise.all([import("./ignore-rules.js"), matcher(glob)]);
  const { paths = [] } = (await context.reading?.hiddenIn(root)) ?? {};
  const hidden = [...(await realPrivatePaths(context)), ...paths];
  const isHidden = (at: string): boolean => hidden.some((one) => at === one || at.startsWith(`${one}.`));
  const shownRoot = start === "." ? "" : `${start.replace(/^\.\//, "")}/`;
  const links: FoundLink[] = [];
  let entries = 0;
  const enter = async (folder: string, rules: Rules): Promise<void> => {
    for (const entry of await entriesIn(join(root, folder))) {
      entries += 1;
      if (entries > maxEntries || context.signal.aborted) return;
      const inner = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (isHidden(join(root, inner)) || rules.ignores(inner, entry.name, entry.isDirectory())) continue;
      if (entry.isDirectory()) await enter(inner, rules.within(root, inner));
      else if (entry.isSymbolicLink() && matches(inner)) links.push(await linkAt(root, inner, shownRoot));
    }
  };
  await enter("", IgnoreRules.of(root));
  return links;
}

async function linkAt(root: string, inner: string, shownRoot: string): Promise<FoundLink> {
  const target = visible(await readlink(join(root, inner)).catch(() => "?"));
  return { path: shownRoot + inner, line: `${visible(shownRoot + inner)} -> ${shortened(target, maxTargetChars)}` };
}

async function entriesIn(folder: string): Promise<Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch(() => []);
}

/** Globs use the syntax of `.gitignore`. */
async function matcher(glob: string | undefined): Promise<(path: string) => boolean> {
  if (glob === undefined) return () => true;
  const { default: ignore } = await import("ignore");
  const isNot = glob.startsWith("!");
  const rules = ignore({ ignorecase: false }).add(isNot ? glob.slice(1) : glob);
  return (path) => rules.ignores(path) !== isNot;
}
