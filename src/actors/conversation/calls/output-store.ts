import { within } from "../../../base/time/waiting.js";
import type { MemoryBudget } from "../../../tools/exec/whole-output.js";
import type { BlobOutcome, BlobStore } from "../../rollout-writer/blob-store.js";
import type { Publish, Recording } from "../turn/recording.js";

/** Maximum bytes of outputs waiting to be written, over all conversations. */
const maxOutputBytes = 64 * 1024 * 1024;

/** Maximum time the end of a turn waits for outputs to be stored. */
const storeTimeoutMs = 5_000;

interface OutputReporter {
  readonly recording: Recording;
  readonly publish: Publish;
}

/** Stores the full outputs of one turn in the background, and records the file of each. */
export class OutputStore implements MemoryBudget {
  readonly #blobs: BlobStore;
  readonly #room: MemoryBudget;
  readonly #told: OutputReporter;
  readonly #submissionId: string;
  readonly #keeping = new Set<Promise<void>>();

  constructor(blobs: BlobStore, room: MemoryBudget, told: OutputReporter, submissionId: string) {
    this.#blobs = blobs;
    this.#room = room;
    this.#told = told;
    this.#submissionId = submissionId;
  }

  take(bytes: number): boolean {
    return this.#room.take(bytes);
  }

  give(bytes: number): void {
    this.#room.give(bytes);
  }

  keep(callId: string, text: string): void {
    const keeping = this.#keep(callId, text).finally(() => this.#keeping.delete(keeping));
    this.#keeping.add(keeping);
  }

  /** Resolves when all outputs are stored, or after a timeout; a late one is recorded when it is done. */
  async settled(): Promise<void> {
    if (this.#keeping.size > 0) await within(Promise.all(this.#keeping), storeTimeoutMs);
  }

  async #keep(callId: string, text: string): Promise<void> {
    const outcome = await this.#kept(text);
    if (outcome.status === "not_kept") {
      const message = `Cannot store the full output of ${callId}: ${outcome.reason}`;
      return this.#told.publish({ type: "warning", message }, this.#submissionId);
    }
    const { sha256, bytes } = outcome;
    const payload = { type: "blob" as const, call_id: callId, sha256, bytes };
    this.#told.recording.line({ type: "cody", payload }, this.#submissionId);
  }

  async #kept(text: string): Promise<BlobOutcome> {
    if (!this.#room.take(text.length)) return { status: "not_kept", reason: "too much data is waiting to be written" };
    try {
      return await this.#blobs.keep(text);
    } finally {
      this.#room.give(text.length);
    }
  }
}

/** Bounds the memory that all running calls of a process use for outputs to be stored. */
export class OutputMemory implements MemoryBudget {
  #left: number;

  constructor(bytes = maxOutputBytes) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}
