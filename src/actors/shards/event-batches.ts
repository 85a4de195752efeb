import type { MessagePort } from "node:worker_threads";
import type { ConversationMsg } from "../../messages/actors/conversation.js";
import type { ShardEvent } from "../../messages/actors/shard.js";
import { isDeltaMsg } from "../conversation/events.js";

type Published = Extract<ShardEvent, { type: "published" }>;

const entriesPerMessage = 256;

/** Sends what the conversations of a shard publish in one turn of the event loop in one message. */
export class EventBatches {
  readonly #port: MessagePort;
  readonly #onSent: () => void;
  #entries: ShardEvent[] = [];
  /** The entry that a delta may be added to. */
  #last: Published | undefined;
  #isScheduled = false;

  /** `onSent` is called when a turn of the event loop is over in which something was published. */
  constructor(port: MessagePort, onSent: () => void) {
    this.#port = port;
    this.#onSent = onSent;
  }

  add(event: ShardEvent): void {
    if (event.type === "published" && this.#continues(event)) return;
    this.#last = event.type === "published" && isDeltaMsg(event.msg) ? { ...event } : undefined;
    this.#entries.push(this.#last ?? event);
    if (this.#entries.length >= entriesPerMessage) this.send();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.send();
        this.#onSent();
      });
    }
  }

  /** Adds a delta to the entry before it if it differs only in its text. */
  #continues({ conversationId, id, msg }: Published): boolean {
    const last = this.#last;
    if (last === undefined || last.conversationId !== conversationId || last.id !== id) return false;
    if (!isDeltaMsg(msg) || !isDeltaMsg(last.msg)) return false;
    if (msg.type !== last.msg.type || msg.item_id !== last.msg.item_id) return false;
    (last.texts ??= []).push(msg.delta);
    return true;
  }

  /** Called before an answer is sent: the main thread must know what was published before it. */
  send(): void {
    if (this.#entries.length === 0) return;
    this.#port.postMessage(this.#entries, []);
    this.#entries = [];
    this.#last = undefined;
  }
}

/** Calls back with every message of an entry, in order. */
export function eachMsg({ msg, texts }: Published, onMsg: (msg: ConversationMsg) => void): void {
  onMsg(msg);
  if (texts === undefined || !isDeltaMsg(msg)) return;
  for (const delta of texts) onMsg({ ...msg, delta });
}
