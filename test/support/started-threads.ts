import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { temporaryFolder } from "./temporary-folder.js";

/** Environment for a child process, and the files of the threads it has started once it has ended. */
export async function countThreads(): Promise<{
  env: Readonly<Record<string, string>>;
  started: () => Promise<string[]>;
}> {
  const file = join(await temporaryFolder(), "threads.json");
  const preload = new URL("count-threads.mjs", import.meta.url).href;
  return {
    env: { NODE_OPTIONS: `--import ${preload}`, THREADS_FILE: file },
    started: async () => (JSON.parse(await readFile(file, "utf8")) as string[]).map((path) => basename(path)),
  };
}
