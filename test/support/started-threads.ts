import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { temporaryFolder } from "./temporary-folder.js";

interface StartedThread {
  readonly file: string;
  /** The files the process had loaded when the thread was started. */
  readonly loaded: readonly string[];
}

/** The environment for a child process, and the entries of the threads it started, available after its exit. */
export async function countThreads(): Promise<{
  env: Readonly<Record<string, string>>;
  started: () => Promise<string[]>;
  loadedBefore: (thread: string) => Promise<string[]>;
}> {
  const file = join(await temporaryFolder(), "threads.json");
  const threads = async (): Promise<StartedThread[]> => JSON.parse(await readFile(file, "utf8")) as StartedThread[];
  const preload = new URL("count-threads.mjs", import.meta.url).href;
  return {
    env: { NODE_OPTIONS: `--import ${preload}`, THREADS_FILE: file },
    started: async () => (await threads()).map((thread) => basename(thread.file)),
    loadedBefore: async (name) => {
      const thread = (await threads()).find(({ file: started }) => basename(started) === name);
      return (thread?.loaded ?? []).map((path) => basename(path));
    },
  };
}
