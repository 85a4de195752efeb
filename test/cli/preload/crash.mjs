// Throws an uncatchable error in the middle of an answer.
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  timers.setImmediate = () =>
    new Promise(() => {
      setTimeout(() => {
        throw new Error(`boom with ${process.env.TEST_API_KEY}`);
      });
    });
  syncBuiltinESMExports();
}
