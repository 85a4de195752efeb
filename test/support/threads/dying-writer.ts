import { threadId } from "node:worker_threads";
import { RolloutWriter } from "../../../src/actors/rollout-writer/rollout-writer.js";
import { serveWriter } from "../../../src/actors/rollout-writer/serve-writer.js";
import { nodeFileSystem } from "../../../src/rollouts/file/file-system.js";

// A writer whose thread dies in the middle of its work: after a line is durable and before it is acknowledged, after a
// line is written and before it is durable, or in the middle of a line.
const lifetime = 30 + (threadId % 7);
const death = (["synced", "written", "torn"] as const)[threadId % 3];
let steps = 0;

serveWriter(
  new RolloutWriter({
    ...nodeFileSystem,
    write: async (fd, bytes) => {
      steps += 1;
      if (steps < lifetime || death === "synced") return nodeFileSystem.write(fd, bytes);
      await nodeFileSystem.write(fd, death === "torn" ? bytes.subarray(0, bytes.length / 2) : bytes);
      return process.exit(1);
    },
    fdatasync: async (fd) => {
      await nodeFileSystem.fdatasync(fd);
      if (steps >= lifetime) process.exit(1);
    },
  }),
);
