import type { MessagePort } from "node:worker_threads";
import type { ShardEvent } from "../../messages/actors/shard.js";

const entriesPerMessage = 256;
const textsPerMessage = 2_048;

/** The deltas of one conversation that continue the one before them. */
export interface DeltaRun {
  readonly slot: number;
  /** Texts that have not been sent. */
  texts: string[];
}

/** Sends what the conversations of a shard publish in one turn of the event loop in one message. */
export class EventBatches {
  readonly #port: MessagePort;
  readonly #onSent: () => void;
  #entries: ShardEvent[] = [];
  /** Runs with texts that have not been sent; a run may be listed twice. */
  #runs: DeltaRun[] = [];
  #texts = 0;
  #isScheduled = false;

  /** `onSent` is called when a turn of the event loop is over in which something was published. */
  constructor(port: MessagePort, onSent: () => void) {
    this.#port = port;
    this.#onSent = onSent;
  }

  /** Adds an event of the conversation that has the run. */
  add(event: ShardEvent, run: DeltaRun): void {
    // The order of events matters only within a conversation.
    this.#close([run]);
    this.#entries.push(event);
    if (this.#entries.length >= entriesPerMessage) this.send();
    else this.#schedule();
  }

  addDelta(run: DeltaRun, text: string): void {
    if (run.texts.length === 0) this.#runs.push(run);
    run.texts.push(text);
    this.#texts += 1;
    if (this.#texts >= textsPerMessage) this.send();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.send();
      this.#onSent();
    });
  }

  /** Makes the texts of runs the next entry. */
  #close(runs: readonly DeltaRun[]): void {
    const open = runs.filter(({ texts }) => texts.length > 0);
    if (open.length === 0) return;
    const slots: number[] = [];
    const counts: number[] = [];
    const all: string[] = [];
    for (const run of open) {
      // Closed already, if the run is listed twice.
      if (run.texts.length === 0) continue;
      slots.push(run.slot);
      counts.push(run.texts.length);
      for (const text of run.texts) all.push(text);
      run.texts = [];
    }
    this.#entries.push({ type: "deltas", slots, counts, texts: all });
  }

  /** Called before an answer is sent: the main thread must know what was published before it. */
  send(): void {
    this.#close(this.#runs);
    this.#runs = [];
    this.#texts = 0;
    if (this.#entries.length === 0) return;
    this.#port.postMessage(this.#entries, []);
    this.#entries = [];
  }
}
