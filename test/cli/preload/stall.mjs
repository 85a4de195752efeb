// The write of a turn's end never happens, so anything shown by then was shown before the turn was saved.
import { syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";
import threads from "node:worker_threads";

const inWriter = fileURLToPath(new URL("stall-writer.cjs", import.meta.url));

if (threads.isMainThread) {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(entry, options) {
      super(entry, { ...options, execArgv: ["--require", inWriter] });
    }
  };
  syncBuiltinESMExports();
}
