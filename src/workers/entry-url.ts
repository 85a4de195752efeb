import { builtFile } from "../base/fs/built-file.js";

/** Returns the URL of a thread's entry. It is a built file, because Node 20 cannot load TypeScript in a Worker. */
export function entryUrl(name: string): URL {
  return builtFile(`workers/entries/${name}.cjs`);
}
