// The offline model yields to the loop between its deltas. Here that pause never ends, so that an answer has begun and
// stays unfinished until its turn is aborted: a turn in the middle, without any timing.
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { isMainThread } from "node:worker_threads";

const hold = () => {
  const timer = setInterval(() => {}, 1_000_000);
  // Once the turn has been aborted nobody waits any more.
  process.once("SIGINT", () => clearInterval(timer));
  process.once("SIGTERM", () => clearInterval(timer));
  process.once("SIGHUP", () => clearInterval(timer));
};

if (isMainThread) {
  // A model that is being waited for keeps the process alive, as a socket would.
  timers.setImmediate = () => new Promise(() => hold());
  syncBuiltinESMExports();
}
