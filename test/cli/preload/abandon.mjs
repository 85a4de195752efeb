// The offline model waits for a promise that never settles and does not keep the process alive.
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  timers.setImmediate = () => new Promise(() => {});
  syncBuiltinESMExports();
}
