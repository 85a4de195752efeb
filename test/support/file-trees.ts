import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Tree } from "./edit-sequences.js";

/** Makes a folder contain exactly these files, except for `.git`. */
export async function putTree(folder: string, tree: Tree): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== ".git") await rm(join(folder, name), { recursive: true });
  }
  for (const [name, { mode, bytes }] of tree) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    if (mode === "120000") await symlink(Buffer.from(bytes), path);
    else {
      await writeFile(path, bytes);
      await chmod(path, mode === "100755" ? 0o755 : 0o644);
    }
  }
}

/** The files of a folder, in a form that can be compared. */
export async function treeIn(folder: string, under = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(join(folder, under))) {
    if (name === ".git") continue;
    const path = join(under, name);
    const stats = await lstat(join(folder, path));
    if (stats.isDirectory()) Object.assign(found, await treeIn(folder, path));
    else if (stats.isSymbolicLink())
      found[path] = `120000 ${(await readlink(join(folder, path), "buffer")).toString("hex")}`;
    else {
      const mode = (stats.mode & 0o100) === 0 ? "100644" : "100755";
      found[path] = `${mode} ${(await readFile(join(folder, path))).toString("hex")}`;
    }
  }
  return found;
}

/** The same as `treeIn`, for a tree in memory. */
export function plainTree(tree: Tree): Record<string, string> {
  return Object.fromEntries(
    [...tree].map(([name, { mode, bytes }]) => [name, `${mode} ${Buffer.from(bytes).toString("hex")}`]),
  );
}

/** The entries of a folder with their modes, including subfolders. */
export async function placesIn(folder: string, under = ""): Promise<string[]> {
  const places: string[] = [];
  for (const name of (await readdir(join(folder, under))).toSorted()) {
    const path = join(under, name);
    const stats = await lstat(join(folder, path));
    const kind = stats.isDirectory() ? "folder" : stats.isFile() ? "file" : stats.isFIFO() ? "pipe" : "link";
    places.push(`${path} ${kind}${kind === "link" ? "" : ` ${(stats.mode & 0o777).toString(8)}`}`);
    if (kind === "folder") places.push(...(await placesIn(folder, path)));
  }
  return places;
}
