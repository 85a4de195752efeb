import type { MessagePort } from "node:worker_threads";
import type { ShardEvent } from "../../messages/actors/shard.js";

const entriesPerMessage = 256;
const textsPerMessage = 2_048;

/** The deltas and the activity of one conversation that have not been sent. */
export interface Unsent {
  readonly slot: number;
  /** The texts of deltas that continue the one before them. */
  texts: string[];
  isActive: boolean;
  /** The last value that was sent. */
  wasActive: boolean;
}

/** Sends what the conversations of a shard publish in one turn of the event loop in one message. */
export class EventBatches {
  readonly #port: MessagePort;
  readonly #onSent: () => void;
  #entries: ShardEvent[] = [];
  /** Those with texts; one may be listed twice. */
  #withTexts: Unsent[] = [];
  readonly #withActivity = new Set<Unsent>();
  #texts = 0;
  #isScheduled = false;

  /** `onSent` is called when a turn of the event loop is over in which something was published. */
  constructor(port: MessagePort, onSent: () => void) {
    this.#port = port;
    this.#onSent = onSent;
  }

  /** Adds an event of a conversation. */
  add(event: ShardEvent, unsent: Unsent): void {
    // The order of events matters only within a conversation.
    this.#close([unsent]);
    this.#entries.push(event);
    if (this.#entries.length >= entriesPerMessage) this.send();
    else this.#schedule();
  }

  addDelta(unsent: Unsent, text: string): void {
    if (unsent.texts.length === 0) this.#withTexts.push(unsent);
    unsent.texts.push(text);
    this.#texts += 1;
    if (this.#texts >= textsPerMessage) this.send();
    else this.#schedule();
  }

  /** Only a change that lasts is sent: most messages are handled at once. */
  setActive(unsent: Unsent, isActive: boolean): void {
    unsent.isActive = isActive;
    this.#withActivity.add(unsent);
    this.#schedule();
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

  /** Makes the texts the next entry. */
  #close(conversations: readonly Unsent[]): void {
    const open = conversations.filter(({ texts }) => texts.length > 0);
    if (open.length === 0) return;
    const slots: number[] = [];
    const counts: number[] = [];
    const all: string[] = [];
    for (const unsent of open) {
      // Closed already, if it is listed twice.
      if (unsent.texts.length === 0) continue;
      slots.push(unsent.slot);
      counts.push(unsent.texts.length);
      for (const text of unsent.texts) all.push(text);
      unsent.texts = [];
    }
    this.#entries.push({ type: "deltas", slots, counts, texts: all });
  }

  /** Called before an answer is sent: the main thread must know what was published before it. */
  send(): void {
    this.#close(this.#withTexts);
    this.#withTexts = [];
    this.#texts = 0;
    for (const unsent of this.#withActivity) {
      const { slot, isActive, wasActive } = unsent;
      if (isActive !== wasActive) this.#entries.push({ type: "active", slot, isActive });
      unsent.wasActive = isActive;
    }
    this.#withActivity.clear();
    if (this.#entries.length === 0) return;
    this.#port.postMessage(this.#entries, []);
    this.#entries = [];
  }
}
