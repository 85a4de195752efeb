// The offline model yields to the event loop between its deltas. Here that pause never ends, so an answer has begun and
// stays unfinished until its turn is aborted. Tests get a running turn without depending on timing.
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { isMainThread } from "node:worker_threads";

const hold = () => {
  const timer = setInterval(() => {}, 1_000_000);
  // After the abort nothing keeps the process alive.
  process.once("SIGINT", () => clearInterval(timer));
  process.once("SIGTERM", () => clearInterval(timer));
  process.once("SIGHUP", () => clearInterval(timer));
};

if (isMainThread) {
  // The pending timer keeps the process alive, as a socket would.
  timers.setImmediate = () => new Promise(() => hold());
  syncBuiltinESMExports();
}
