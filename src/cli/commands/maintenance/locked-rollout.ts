import { CodexLocks, openOwnerSocket } from "../../../actors/rollout-writer/rollout-locks.js";
import { CodexLockError, ConversationInUseError } from "../../../base/errors.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { releaseLock, acquireLock } from "../../../rollouts/file/lock.js";
import { runtimeDirectory } from "../../../rollouts/file/runtime-directory.js";
import type { SharedContext } from "../../context.js";

/** Runs `work` while nobody else can write the rollout; for commands that do not resume the conversation. */
export async function withRolloutLocked<T>(
  context: SharedContext<"force">,
  rollout: RolloutName,
  work: () => Promise<T>,
): Promise<T> {
  return await withCodexLock(context, rollout, () => withOwnLock(context, rollout, work));
}

async function withOwnLock<T>(
  { terminal, flags }: SharedContext<"force">,
  { id, path }: RolloutName,
  work: () => Promise<T>,
): Promise<T> {
  const socket = await openOwnerSocket(await runtimeDirectory(terminal.env));
  try {
    const lock = await acquireLock(path, socket.owner, { force: flags.force === true });
    if (lock.status === "in_use") throw new ConversationInUseError(id, lock.owner);
    try {
      return await work();
    } finally {
      await releaseLock(path, socket.owner);
    }
  } finally {
    await socket.close();
  }
}

/** First takes Codex's own lock, if Codex could be writing the file. */
async function withCodexLock<T>(
  { codexHome, flags, terminal }: SharedContext<"force">,
  { id, path }: RolloutName,
  work: () => Promise<T>,
): Promise<T> {
  if (codexHome === undefined) return await work();
  const locks = new CodexLocks({ codexHome, searchPath: terminal.env["PATH"] });
  if (!(await locks.covers(path))) return await work();
  const lock = await locks.take(id);
  if (lock.status === "held") throw new ConversationInUseError(id, "Codex");
  if (lock.status === "unavailable") {
    if (flags.force !== true) throw new CodexLockError(id, lock.reason);
    return await work();
  }
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
