import { lstatSync, writeSync } from "node:fs";
import type { OpenOutcome, RolloutAnswers, RolloutCommand, RolloutEvent } from "../../messages/rollout-command.js";
import { type FileSystem, nodeFileSystem } from "../../rollouts/file/file-system.js";
import type { Actor } from "../runtime/actor.js";
import { Descriptors } from "./descriptors.js";
import { DirectorySyncs } from "./directory-syncs.js";
import { ConcurrencyLimit } from "./lanes.js";
import { RolloutFile, type OpenCommand } from "./rollout-file.js";
import { RolloutSaver } from "./rollout-saver.js";

/**
 * For the writer's own thread: operations that only reach the page cache run synchronously, because Node's thread pool
 * costs more than the work itself. Operations that wait for the disk go through the pool, so that others can proceed.
 */
export const threadFileSystem: FileSystem = {
  ...nodeFileSystem,
  write: async (fd, bytes) => writeSync(fd, bytes),
  lstat: async (path) => lstatSync(path),
};

/**
 * Number of files worked on at a time. Node's pool of four threads serves the whole process: one stays free for other
 * work, and a file that stalls leaves two lanes for the others.
 */
const maxParallelSaves = 3;
/** Maximum number of files kept open between writes. */
const maxOpenFiles = 1_024;

export type RolloutWriter = Actor<RolloutCommand, RolloutAnswers, null, RolloutEvent>;

/**
 * Owns every open rollout of the process. It loads no schema library: its messages were validated where they entered.
 */
export function createRolloutWriter(fileSystem: FileSystem, openFiles = maxOpenFiles): RolloutWriter {
  return {
    name: "rollout_writer",
    start: (_options, context) => {
      const savers = new Map<string, RolloutSaver>();
      const lanes = new ConcurrencyLimit(maxParallelSaves);
      const disk = {
        fileSystem,
        descriptors: new Descriptors(openFiles),
        directories: new DirectorySyncs(fileSystem),
      };

      async function open(command: OpenCommand): Promise<OpenOutcome> {
        const { conversationId } = command;
        const before = savers.get(conversationId);
        const file = new RolloutFile(disk, command);
        const saver = new RolloutSaver(conversationId, file, lanes, (event) => context.publish(event));
        savers.set(conversationId, saver);
        const outcome = await saver.open(before?.abandon());
        if (outcome.status === "in_use" && savers.get(conversationId) === saver) savers.delete(conversationId);
        return outcome;
      }

      return {
        open,
        append: ({ conversationId, lines, sync }) => savers.get(conversationId)?.append(lines, sync),
        flush: ({ conversationId }) =>
          savers.get(conversationId)?.flush() ?? { status: "not_saved", reason: "the conversation is not open" },
        close: async ({ conversationId }) => {
          const saver = savers.get(conversationId);
          savers.delete(conversationId);
          return (await saver?.close()) ?? { status: "saved" };
        },
        [Symbol.asyncDispose]: async () => {
          await Promise.all(Array.from(savers.values(), (saver) => saver.release()));
        },
      };
    },
  };
}

export const rolloutWriter = createRolloutWriter(threadFileSystem);
