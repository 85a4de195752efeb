import { open, readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { commonGitDirectory } from "./git-directory.js";

const packMagic = 0xff744f63;
const packVersion = 2;
const headerBytes = 8;
const fanoutBytes = 256 * 4;
/** The maximum number of bytes read from one pack index: the object names that share a first byte. */
const maxNamesBytes = 64 * 1024 * 1024;
/** More packs than git creates in practice, and few enough to open one by one. */
const maxPacks = 2000;

/** True if the repository, or one it borrows objects from, has the commit. False if the repository is damaged. */
export async function hasCommit(root: string, commit: string): Promise<boolean> {
  try {
    const objects = join(await commonGitDirectory(root), "objects");
    for (const folder of [objects, ...(await borrowed(objects))]) {
      if ((await isLoose(folder, commit)) || (await isPacked(folder, commit))) return true;
    }
  } catch {
    // The folder is not a repository, or cannot be read.
  }
  return false;
}

/** The object folders of other repositories that this clone shares (`objects/info/alternates`). */
async function borrowed(objects: string): Promise<string[]> {
  const text = await readFile(join(objects, "info", "alternates"), "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [resolve(objects, line)]));
}

async function isLoose(objects: string, commit: string): Promise<boolean> {
  return stat(join(objects, commit.slice(0, 2), commit.slice(2))).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

async function isPacked(objects: string, commit: string): Promise<boolean> {
  const packs = join(objects, "pack");
  const names = await readdir(packs).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(".idx")).slice(0, maxPacks)) {
    if (await indexHas(join(packs, name), Buffer.from(commit, "hex"))) return true;
  }
  return false;
}

/** Looks up a name in a pack index: a fan-out table with cumulative counts per first byte, then the sorted names. */
async function indexHas(path: string, name: Buffer): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const head = await readAt(headerBytes + fanoutBytes, 0);
    if (head.length < headerBytes + fanoutBytes || head.readUInt32BE(0) !== packMagic) return false;
    if (head.readUInt32BE(4) !== packVersion) return false;
    const first = name[0] ?? 0;
    const from = first === 0 ? 0 : head.readUInt32BE(headerBytes + (first - 1) * 4);
    const length = (head.readUInt32BE(headerBytes + first * 4) - from) * name.length;
    if (length <= 0 || length > maxNamesBytes) return false;
    const names = await readAt(length, headerBytes + fanoutBytes + from * name.length);
    for (let at = names.indexOf(name); at !== -1; at = names.indexOf(name, at + 1)) {
      if (at % name.length === 0) return true;
    }
    return false;
  } finally {
    await file.close();
  }

  async function readAt(length: number, position: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, (await file.read(bytes, 0, length, position)).bytesRead);
  }
}
