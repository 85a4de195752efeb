import type { RolloutAnswers, RolloutCommand, RolloutEvent } from "../../messages/rollout-command.js";
import { runtimeDirectory } from "../../rollouts/file/runtime-directory.js";
import { entryUrl } from "../../workers/entry-url.js";
import { spawnThread } from "../runtime/spawn-thread.js";
import { RolloutOutbox } from "./outbox.js";
import { openOwnerSocket, type OwnerSocket } from "./owner-socket.js";

/** The writer's data is short-lived; with the default size its garbage alone would take a third of our memory. */
const maxYoungGenerationSizeMb = 4;

/** Creates an outbox whose writer has its own thread. Thread and socket exist from the first open until `stop`. */
export function openOutbox(env: Readonly<Record<string, string | undefined>>): RolloutOutbox {
  let socket: Promise<OwnerSocket> | undefined;
  return new RolloutOutbox({
    spawnWriter: (spawnOptions) =>
      spawnThread<RolloutCommand, RolloutAnswers, null, RolloutEvent>(entryUrl("rollout-writer"), null, {
        ...spawnOptions,
        resourceLimits: { maxYoungGenerationSizeMb },
      }),
    owner: async () => {
      socket = runtimeDirectory(env).then(openOwnerSocket);
      return (await socket).owner;
    },
    onStopped: async () => {
      const opened = await socket?.catch(() => undefined);
      await opened?.close();
    },
  });
}
