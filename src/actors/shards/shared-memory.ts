/** The cells of the memory that a shard shares with the main thread. */
const beats = 0;
const runningSlot = 1;
const cells = 2;

/**
 * The facts about a shard that the main thread can read even if the shard no longer answers: whether its event loop turns, and whose code it
 * runs.
 */
export class ShardMemory {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#cells = new Int32Array(buffer);
  }

  /** Called by the shard in regular intervals. */
  beat(): void {
    Atomics.add(this.#cells, beats, 1);
  }

  get beats(): number {
    return Atomics.load(this.#cells, beats);
  }

  /** The conversation whose code runs, by its slot; 0 when no code of a conversation has run in this turn of the loop. */
  get running(): number {
    return Atomics.load(this.#cells, runningSlot);
  }

  set running(slot: number) {
    // Not atomic, because it is set with every event: the main thread reads it only when the shard has died or hangs.
    this.#cells[runningSlot] = slot;
  }
}
