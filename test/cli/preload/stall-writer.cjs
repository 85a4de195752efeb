// Runs in the thread that writes rollouts; see stall.mjs.
const fs = require("node:fs");

const { writeSync } = fs;
fs.writeSync = (fd, bytes, ...rest) => {
  if (!Buffer.from(bytes).includes('"task_complete"')) return writeSync(fd, bytes, ...rest);
  writeSync(2, "stalled\n");
  return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
