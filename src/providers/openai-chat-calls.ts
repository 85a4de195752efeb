import type { FunctionCallItem } from "../messages/response-item.js";
import { recordAt, recordsAt, textAt } from "./json-fields.js";

interface OpenCall {
  readonly index: unknown;
  id: string;
  name: string;
  args: string;
}

/** Puts calls together that come in pieces over many chunks. */
export class ChatCalls {
  readonly #calls: OpenCall[] = [];

  add(delta: Record<string, unknown>): void {
    for (const piece of recordsAt(delta, "tool_calls")) {
      const call = this.#callOf(piece);
      const { name, arguments: args } = recordAt(piece, "function");
      if (call.name === "" && typeof name === "string") call.name = name;
      // Some servers send the object itself.
      if (typeof args === "string") call.args += args;
      else if (typeof args === "object" && args !== null) call.args += JSON.stringify(args);
    }
  }

  /** The calls in their order. One that the end of the answer has cut is left out: half a call must never run. */
  whole(isCut: boolean, fallbackId: string): FunctionCallItem[] {
    return this.#calls.flatMap(({ id, name, args }, index): FunctionCallItem[] => {
      if (name === "" || (isCut && !isJson(args))) return [];
      const call_id = id === "" ? `call_${fallbackId}_${index}` : id;
      return [{ type: "function_call", name, arguments: args === "" ? "{}" : args, call_id }];
    });
  }

  /** Pieces of a call share its index; servers that give every call the same one still give each an id. */
  #callOf(piece: Record<string, unknown>): OpenCall {
    const id = textAt(piece, "id");
    const { index } = piece;
    const open =
      typeof index === "number" || id !== ""
        ? this.#calls.findLast((call) => (typeof index === "number" ? call.index === index : call.id === id))
        : this.#calls.at(-1);
    if (open !== undefined && (id === "" || open.id === "" || open.id === id)) {
      if (open.id === "") open.id = id;
      return open;
    }
    const call = { index, id, name: "", args: "" };
    this.#calls.push(call);
    return call;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
