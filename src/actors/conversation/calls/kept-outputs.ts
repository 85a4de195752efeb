import type { Room } from "../../../tools/exec/whole-output.js";
import type { BlobOutcome, BlobStore } from "../../rollout-writer/blob-store.js";
import { within } from "../../../base/time/waiting.js";
import type { Publish, Recording } from "../turn/recording.js";

/** How long the end of a turn waits for outputs to be kept. */
const patienceMs = 5_000;

interface Told {
  readonly recording: Recording;
  readonly publish: Publish;
}

/** Keeps the outputs of one turn as a whole, beside everything else, and records which file each is in. */
export class KeptOutputs implements Room {
  readonly #blobs: BlobStore;
  readonly #room: Room;
  readonly #told: Told;
  readonly #submissionId: string;
  readonly #keeping = new Set<Promise<void>>();

  constructor(blobs: BlobStore, room: Room, told: Told, submissionId: string) {
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

  /** Resolves when all is kept, or has taken too long: then it is recorded when it is. */
  async settled(): Promise<void> {
    if (this.#keeping.size > 0) await within(Promise.all(this.#keeping), patienceMs);
  }

  async #keep(callId: string, text: string): Promise<void> {
    const outcome = await this.#kept(text);
    if (outcome.status === "not_kept") {
      const message = `The whole output of ${callId} was not kept: ${outcome.reason}`;
      return this.#told.publish({ type: "warning", message }, this.#submissionId);
    }
    const { sha256, bytes } = outcome;
    const payload = { type: "blob" as const, call_id: callId, sha256, bytes };
    this.#told.recording.line({ type: "cody", payload }, this.#submissionId);
  }

  async #kept(text: string): Promise<BlobOutcome> {
    if (!this.#room.take(text.length)) return { status: "not_kept", reason: "too much is waiting to be written" };
    try {
      return await this.#blobs.keep(text);
    } finally {
      this.#room.give(text.length);
    }
  }
}
