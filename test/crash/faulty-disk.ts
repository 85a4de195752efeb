import { DurableDisk } from "./durable-disk.js";
import type { IoCall } from "./io-calls.js";
import type { Fault } from "./io-faults.js";

/** The call that fails: the first with this name, counting from this number. */
export interface FaultPoint {
  readonly number: number;
  readonly call: string;
  readonly fault: Fault;
}

/** A disk with at most one fault. */
export class FaultyDisk {
  readonly durable = new DurableDisk();
  readonly #point: FaultPoint | undefined;
  #state: "sound" | "failing" | "healed" = "sound";

  constructor(point?: FaultPoint) {
    this.#point = point;
  }

  get hasFailed(): boolean {
    return this.#state !== "sound";
  }

  perform(call: IoCall): Promise<unknown> {
    const point = this.#point;
    if (point?.call !== call.name || call.number < point.number || this.#state === "healed") {
      return this.durable.perform(call);
    }
    this.#state = point.fault.stays ? "failing" : "healed";
    return point.fault.act(call, this.durable);
  }

  /** Ends a persistent fault. */
  heal(): void {
    if (this.#state === "failing") this.#state = "healed";
  }
}
