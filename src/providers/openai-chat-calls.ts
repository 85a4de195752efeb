import type { FunctionCallItem } from "../messages/response-item.js";
import { recordAt, recordsAt, textAt } from "./json-fields.js";
import { itemOverheadBytes } from "./stream-bounds.js";

interface OpenCall {
  readonly index: unknown;
  id: string;
  name: string;
  args: string;
}

/** Puts calls together that come in pieces over many chunks. */
export class ChatCalls {
  readonly #calls: OpenCall[] = [];

  /** How many bytes more are kept now. */
  add(delta: Record<string, unknown>): number {
    let bytes = 0;
    for (const piece of recordsAt(delta, "tool_calls")) {
      const count = this.#calls.length;
      const call = this.#callOf(piece);
      if (this.#calls.length > count) bytes += itemOverheadBytes;
      const { name, arguments: args } = recordAt(piece, "function");
      if (call.name === "" && typeof name === "string") call.name = name;
      // Some servers send the object itself.
      const text = typeof args === "object" && args !== null ? JSON.stringify(args) : textOf(args);
      call.args += text;
      bytes += text.length;
    }
    return bytes;
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

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
