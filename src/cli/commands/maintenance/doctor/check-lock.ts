import type { LockOwner } from "../../../../messages/rollout-command.js";
import { isDead, readLock, shownOwner } from "../../../../rollouts/file/lock-owner.js";
import type { StoreFinding } from "./finding.js";

/** Whether the owner of a lock lives, as far as it can be found out from here. */
export async function checkLock(path: string, us: LockOwner): Promise<StoreFinding[]> {
  const lock = await readLock(path);
  if (lock.status === "none") return [];
  if (lock.status === "garbled") return [{ kind: "garbled_lock", path }];
  const { owner } = lock;
  if (await isDead(owner, us)) return [{ kind: "dead_lock", path, pid: owner.pid }];
  const isNear = owner.bootId === us.bootId && owner.pidNamespace === us.pidNamespace;
  return isNear ? [] : [{ kind: "far_lock", path, owner: shownOwner(owner, us) }];
}
