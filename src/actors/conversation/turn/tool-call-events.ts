import type { EventMsg } from "../../../messages/event.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import type { NormalizedCall } from "../calls/admit-call.js";
import { nameAndArguments } from "../calls/open-calls.js";

interface StartedCall {
  readonly callId: string;
  readonly name: string;
  hasArguments: boolean;
}

/**
 * Publishes the start, the arguments and the end of every tool call of one answer. A provider that sends calls in one
 * piece causes the same events as one that streams them.
 */
export class ToolCallEvents {
  readonly #publish: (msg: EventMsg) => void;
  readonly #started = new Map<string, StartedCall>();

  constructor(publish: (msg: EventMsg) => void) {
    this.#publish = publish;
  }

  start(itemId: string, callId: string, name: string): void {
    if (this.#started.has(itemId)) return;
    this.#started.set(itemId, { callId, name, hasArguments: false });
    this.#publish({ type: "tool_call_start", item_id: itemId, call_id: callId, name });
  }

  delta(itemId: string, delta: string): void {
    const call = this.#started.get(itemId);
    if (call === undefined || delta === "") return;
    call.hasArguments = true;
    this.#publish({ type: "tool_call_delta", item_id: itemId, delta });
  }

  end(itemId: string, { call, args }: NormalizedCall): void {
    const { name } = nameAndArguments(call);
    const callId = call.call_id ?? "";
    this.start(itemId, callId, name);
    if (this.#started.get(itemId)?.hasArguments === false) this.delta(itemId, args);
    this.#started.delete(itemId);
    // Over the Messages API a cut-off call arrives with partial arguments.
    const isCut = call.type === "function_call" && args !== "" && jsonOrUndefined(args) === undefined;
    const incomplete = isCut ? { incomplete: true } : {};
    this.#publish({ type: "tool_call_end", item_id: itemId, call_id: callId, name, ...incomplete });
  }

  /** Ends the calls that the output limit has cut off. */
  cutOff(): void {
    for (const [itemId, { callId, name }] of this.#started) {
      this.#publish({ type: "tool_call_end", item_id: itemId, call_id: callId, name, incomplete: true });
    }
    this.#started.clear();
  }

  /** Called when the request is repeated, so that its calls start again. */
  restart(): void {
    this.#started.clear();
  }
}
