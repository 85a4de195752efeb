import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ImportError } from "../../../base/errors.js";

/** Deeper folders are not searched, because no program keeps its sessions there. */
const maxDepth = 8;
const maxFiles = 100_000;
const ignored = new Set([".git", "node_modules"]);

/** A file that may be a conversation, or the reason why a candidate is skipped. */
interface FoundFile {
  readonly path: string;
  readonly passedOver?: string;
}

/** Finds the files below a directory that are named like conversations, ordered by name. Links are not followed. */
export async function* findSources(directory: string): AsyncGenerator<FoundFile> {
  let found = 0;
  for await (const file of filesIn(directory, 0)) {
    found += 1;
    if (found > maxFiles)
      throw new ImportError(directory, `it contains more than ${maxFiles} files; import its folders one by one`);
    yield file;
  }
  if (found === 0) throw new ImportError(directory, "it contains no .jsonl or .json file");
}

async function* filesIn(folder: string, depth: number): AsyncGenerator<FoundFile> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (depth === 0) throw error;
    return undefined;
  });
  if (entries === undefined) {
    yield { path: folder, passedOver: "cannot read the folder" };
    return;
  }
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (ignored.has(entry.name)) continue;
      if (depth < maxDepth) yield* filesIn(path, depth + 1);
      else yield { path, passedOver: `it is nested more than ${maxDepth} folders deep` };
      continue;
    }
    if (entry.name.startsWith(".") || !/\.jsonl?$/.test(entry.name)) continue;
    if (entry.isFile()) yield { path };
    else yield { path, passedOver: entry.isSymbolicLink() ? "links are not followed" : "it is not a regular file" };
  }
}
