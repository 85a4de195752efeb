import { CodexLockError } from "../../../messages/errors.js";
import type { SaveOutcome } from "../../../messages/rollout-command.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { CodexLock, CodexLocks } from "../../rollout-writer/codex-lock.js";
import type { OpenRequest } from "../../rollout-writer/outbox-rollout.js";
import { type RolloutOutbox, unsavedRollout } from "../../rollout-writer/outbox.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { OpenedRollout } from "./store.js";

/** Opens a rollout that Codex could be writing too: nothing is touched before its lock is ours. */
export async function openForCodex(
  locks: CodexLocks,
  outbox: RolloutOutbox,
  request: OpenRequest,
): Promise<OpenedRollout> {
  const { conversationId, path, mode, force = false } = request;
  const lock = await locks.take(conversationId);
  if (lock.status === "held") {
    // Another cody holds its own lock too, which says who it is.
    const owner = (await outbox.holder(path).catch(() => undefined)) ?? "Codex";
    return { outcome: { status: "in_use", owner }, rollout: unsavedRollout };
  }
  if (lock.status === "unavailable" && mode === "append" && !force) {
    throw new CodexLockError(conversationId, lock.reason);
  }
  const opened = await outbox.open(request);
  // A new conversation is known to nobody yet, and a writer that comes between our lines is noticed.
  if (lock.status === "unavailable") {
    return { ...opened, notice: `Do not resume ${conversationId} in Codex while it is open here: ${lock.reason}` };
  }
  if (opened.outcome.status !== "in_use") return { ...opened, rollout: new LockedRollout(opened.rollout, lock) };
  await lock.release();
  return opened;
}

/** A rollout that lets go of Codex's lock when it is closed. */
class LockedRollout implements Rollout {
  readonly #rollout: Rollout;
  readonly #lock: Extract<CodexLock, { status: "taken" }>;
  #closing: Promise<SaveOutcome> | undefined;

  constructor(rollout: Rollout, lock: Extract<CodexLock, { status: "taken" }>) {
    this.#rollout = rollout;
    this.#lock = lock;
  }

  get path(): string | null {
    return this.#rollout.path;
  }

  get full(): boolean {
    return this.#rollout.full;
  }

  get bytes(): number {
    return this.#rollout.bytes;
  }

  append(line: OwnLine): void {
    this.#rollout.append(line);
  }

  takeRedacted(): number {
    return this.#rollout.takeRedacted();
  }

  flush(): Promise<SaveOutcome> {
    return this.#rollout.flush();
  }

  close(): Promise<SaveOutcome> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<SaveOutcome> {
    const outcome = await this.#rollout.close();
    await this.#lock.release();
    return outcome;
  }
}
