import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

const code = /\.(?:[cm]?[jt]sx?|json|md|ya?ml|py|rs|go)$/;
const maxFileBytes = 1_000_000;

/** The source files below the given folders; by default this project's sources and its dependencies. */
export async function* corpusFiles(folders: readonly string[]): AsyncGenerator<string> {
  for (const folder of folders.length > 0 ? folders : ["src", "node_modules"]) {
    const names = (await readdir(folder, { recursive: true })).filter((name) => code.test(name));
    for (const path of names.map((name) => join(folder, name))) {
      const stats = await stat(path);
      if (stats.isFile() && stats.size <= maxFileBytes) yield await readFile(path, "utf8");
    }
  }
}
