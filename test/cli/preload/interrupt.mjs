// The first thing a command says is answered with Ctrl-C: it is certainly in the middle, without any timing.
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (...args) => {
    process.stdout.write = write;
    process.kill(process.pid, "SIGINT");
    return write(...args);
  };
}
