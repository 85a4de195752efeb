// The offline model waits for something that never comes and that does not keep the process alive.
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  timers.setImmediate = () => new Promise(() => {});
  syncBuiltinESMExports();
}
