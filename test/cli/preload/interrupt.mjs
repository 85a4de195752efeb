// Sends SIGINT at the first write to stdout, so the command is certainly running, without depending on timing.
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (...args) => {
    process.stdout.write = write;
    process.kill(process.pid, "SIGINT");
    return write(...args);
  };
}
