// Preloaded into a process: on exit, writes to the file THREADS_FILE which threads the process has started, each with
// the CommonJS files that were loaded by then.
import { writeFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import workers, { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const { cache } = createRequire(import.meta.url);
  const started = [];
  workers.Worker = class extends workers.Worker {
    constructor(file, options) {
      super(file, options);
      started.push({ file: String(file), loaded: Object.keys(cache) });
    }
  };
  syncBuiltinESMExports();
  process.on("exit", () => writeFileSync(process.env.THREADS_FILE, JSON.stringify(started)));
}
