// Preloaded into a process: writes into the file THREADS_FILE which threads the process has started when it ends.
import { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import workers, { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const started = [];
  workers.Worker = class extends workers.Worker {
    constructor(file, options) {
      super(file, options);
      started.push(String(file));
    }
  };
  syncBuiltinESMExports();
  process.on("exit", () => writeFileSync(process.env.THREADS_FILE, JSON.stringify(started)));
}
