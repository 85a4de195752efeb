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
  readonly #memory: MemoryBudget;
  readonly #reporter: OutputReporter;
  readonly #submissionId: string;
  readonly #storing = new Set<Promise<void>>();

  constructor(blobs: BlobStore, memory: MemoryBudget, reporter: OutputReporter, submissionId: string) {
    this.#blobs = blobs;
    this.#memory = memory;
    this.#reporter = reporter;
    this.#submissionId = submissionId;
  }

  take(bytes: number): boolean {
    return this.#memory.take(bytes);
  }

  give(bytes: number): void {
    this.#memory.give(bytes);
  }

  store(callId: string, text: string): void {
    const storing = this.#storeAndRecord(callId, text).finally(() => this.#storing.delete(storing));
    this.#storing.add(storing);
  }

  /** Resolves when all outputs are stored, or after a timeout; a late one is recorded when it is done. */
  async settled(): Promise<void> {
    if (this.#storing.size > 0) await within(Promise.all(this.#storing), storeTimeoutMs);
  }

  async #storeAndRecord(callId: string, text: string): Promise<void> {
    const outcome = await this.#store(text);
    if (outcome.status === "not_kept") {
      const message = `Cannot store the full output of ${callId}: ${outcome.reason}`;
      return this.#reporter.publish({ type: "warning", message }, this.#submissionId);
    }
    const { sha256, bytes } = outcome;
    const payload = { type: "blob" as const, call_id: callId, sha256, bytes };
    this.#reporter.recording.line({ type: "cody", payload }, this.#submissionId);
  }

  async #store(text: string): Promise<BlobOutcome> {
    if (!this.#memory.take(text.length))
      return { status: "not_kept", reason: "too much data is waiting to be written" };
    try {
      return await this.#blobs.keep(text);
    } finally {
      this.#memory.give(text.length);
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
