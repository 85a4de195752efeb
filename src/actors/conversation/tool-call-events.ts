import type { EventMsg } from "../../messages/event.js";
import type { AdmittedCall } from "./admit-call.js";
import { calledWith } from "./open-calls.js";

interface BegunCall {
  readonly callId: string;
  readonly name: string;
  hasArguments: boolean;
}

/**
 * Publishes the start, the arguments and the end of every tool call of one answer. A provider that gives calls in one
 * piece has the same events as one that streams them.
 */
export class ToolCallEvents {
  readonly #publish: (msg: EventMsg) => void;
  readonly #begun = new Map<string, BegunCall>();

  constructor(publish: (msg: EventMsg) => void) {
    this.#publish = publish;
  }

  start(itemId: string, callId: string, name: string): void {
    if (this.#begun.has(itemId)) return;
    this.#begun.set(itemId, { callId, name, hasArguments: false });
    this.#publish({ type: "tool_call_start", item_id: itemId, call_id: callId, name });
  }

  delta(itemId: string, delta: string): void {
    const call = this.#begun.get(itemId);
    if (call === undefined || delta === "") return;
    call.hasArguments = true;
    this.#publish({ type: "tool_call_delta", item_id: itemId, delta });
  }

  end(itemId: string, { call, args }: AdmittedCall): void {
    const { name } = calledWith(call);
    const callId = call.call_id ?? "";
    this.start(itemId, callId, name);
    if (this.#begun.get(itemId)?.hasArguments === false) this.delta(itemId, args);
    this.#begun.delete(itemId);
    this.#publish({ type: "tool_call_end", item_id: itemId, call_id: callId, name });
  }

  /** Ends the calls that the output limit has cut off. */
  cutOff(): void {
    for (const [itemId, { callId, name }] of this.#begun) {
      this.#publish({ type: "tool_call_end", item_id: itemId, call_id: callId, name, incomplete: true });
    }
    this.#begun.clear();
  }

  /** The request is sent again: what has begun is void. */
  restart(): void {
    this.#begun.clear();
  }
}
