import { lstatSync, writeSync } from "node:fs";
import type { OpenOutcome, RolloutAnswers, RolloutCommand, RolloutEvent } from "../../messages/rollout-command.js";
import { type FileSystem, nodeFileSystem } from "../../rollouts/file/file-system.js";
import type { Actor } from "../runtime/actor.js";
import { Descriptors } from "./descriptors.js";
import { DirectorySyncs } from "./directory-syncs.js";
import { Lanes } from "./lanes.js";
import { RolloutFile, type OpenCommand } from "./rollout-file.js";
import { RolloutSaver } from "./rollout-saver.js";

/**
 * For a thread of its own: what only reaches the cache is done at once, since handing it to Node's pool and back costs
 * more than doing it. What waits for the disk goes through the pool, where others can go on beside it.
 */
export const threadFileSystem: FileSystem = {
  ...nodeFileSystem,
  write: async (fd, bytes) => writeSync(fd, bytes),
  lstat: async (path) => lstatSync(path),
};

/**
 * How many files are worked on at a time. Node's pool of four threads serves the whole process: one stays free for
 * everybody else, and a file that stalls leaves the others two lanes.
 */
const lanesPerProcess = 3;
/** How many files stay open between two writes. */
const maxOpenFiles = 1_024;

export type RolloutWriter = Actor<RolloutCommand, RolloutAnswers, null, RolloutEvent>;

/** Owns every open rollout of the process. It loads no schema library: what it gets was checked where it entered. */
export function createRolloutWriter(fileSystem: FileSystem, openFiles = maxOpenFiles): RolloutWriter {
  return {
    name: "rollout_writer",
    start: (_options, context) => {
      const savers = new Map<string, RolloutSaver>();
      const lanes = new Lanes(lanesPerProcess);
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
