import type { ResponseItem } from "../messages/response-item.js";

/** Says who or what an item is from, while items go by in order: an output does not say itself which tool gave it. */
export class ItemLabels {
  readonly #own: string;
  /** The tools of the calls that have no output yet, by call. */
  readonly #called = new Map<string, string>();

  /** `own`: the tool whose calls and outputs get no label. */
  constructor(own: string) {
    this.#own = own;
  }

  of(item: ResponseItem): string | undefined {
    switch (item.type) {
      case "message":
        return item.role;
      case "function_call":
      case "custom_tool_call":
        this.#called.set(item.call_id, item.name);
        return item.name === this.#own ? undefined : `call of ${item.name}`;
      case "local_shell_call":
        return "call of shell";
      case "function_call_output":
      case "custom_tool_call_output": {
        const name = this.#called.get(item.call_id);
        this.#called.delete(item.call_id);
        if (name === undefined) return "output of a tool";
        return name === this.#own ? undefined : `output of ${name}`;
      }
      default:
        return item.type;
    }
  }
}
