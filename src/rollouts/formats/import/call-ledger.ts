import type { ResponseItem } from "../../../messages/response-item.js";
import type { Losses } from "./losses.js";

/** Keeps account of calls and outputs: an output without its call is nothing anybody could use. */
export class CallLedger {
  readonly #losses: Losses;
  readonly #open = new Map<string, number>();

  constructor(losses: Losses) {
    this.#losses = losses;
  }

  /** Whether an item is carried over. */
  takes(item: ResponseItem): boolean {
    if (item.type === "function_call" || item.type === "custom_tool_call") this.#count(item.call_id, 1);
    if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") return true;
    if (this.#open.has(item.call_id)) {
      this.#count(item.call_id, -1);
      return true;
    }
    this.#losses.count("stray_outputs");
    return false;
  }

  /** Nothing more comes. */
  end(): void {
    for (const times of this.#open.values()) this.#losses.count("unanswered_calls", times);
    this.#open.clear();
  }

  #count(id: string, change: number): void {
    const open = (this.#open.get(id) ?? 0) + change;
    if (open > 0) this.#open.set(id, open);
    else this.#open.delete(id);
  }
}
