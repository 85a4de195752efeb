import type { ModelEvent } from "../../messages/model.js";
import type { FunctionCallItem } from "../../messages/response-item.js";
import { GrowingText } from "../../base/text/growing-text.js";
import { recordAt, recordsAt, textAt } from "../json-fields.js";
import { itemOverheadBytes } from "../transport/stream-bounds.js";

interface OpenCall {
  /** Which of the answer's calls it is, from 0. */
  readonly position: number;
  readonly index: unknown;
  id: string;
  name: string;
  readonly args: GrowingText;
}

/** Puts calls together that come in pieces over many chunks. */
export class ChatCalls {
  readonly #calls: OpenCall[] = [];

  /** Takes the pieces of a chunk; returns what they add to calls whose name is known, and of others how much is kept. */
  add(delta: Record<string, unknown>, answerId: string): ModelEvent[] {
    return recordsAt(delta, "tool_calls").flatMap((piece): ModelEvent[] => {
      const call = this.#callOf(piece);
      const { name, arguments: args } = recordAt(piece, "function");
      const isStarted = call.name !== "";
      if (!isStarted && typeof name === "string") call.name = name;
      const added = argumentsText(args);
      call.args.add(added);
      if (call.name === "") return [{ type: "buffered", bytes: itemOverheadBytes + added.length }];
      const itemId = itemIdOf(call, answerId);
      const text = isStarted ? added : call.args.toString();
      return [
        ...(isStarted
          ? []
          : [{ type: "tool_call_start" as const, itemId, callId: callIdOf(call, answerId), name: call.name }]),
        ...(text === "" ? [] : [{ type: "tool_call_delta" as const, itemId, delta: text }]),
      ];
    });
  }

  /** The calls in their order. One that the end of the answer has cut is left out: half a call must never run. */
  whole(isCut: boolean, answerId: string): { readonly itemId: string; readonly call: FunctionCallItem }[] {
    return this.#calls
      .filter(({ name, args }) => name !== "" && !(isCut && !isJson(args.toString())))
      .map((call) => {
        const { name } = call;
        const args = call.args.toString();
        const item = { name, arguments: args === "" ? "{}" : args, call_id: callIdOf(call, answerId) };
        return { itemId: itemIdOf(call, answerId), call: { type: "function_call", ...item } };
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
    const call = { position: this.#calls.length, index, id, name: "", args: new GrowingText() };
    this.#calls.push(call);
    return call;
  }
}

/** Some servers send the object itself. */
function argumentsText(args: unknown): string {
  if (typeof args === "string") return args;
  return typeof args === "object" && args !== null ? JSON.stringify(args) : "";
}

function itemIdOf({ position }: OpenCall, answerId: string): string {
  return `${answerId}_call_${position}`;
}

function callIdOf({ id, position }: OpenCall, answerId: string): string {
  return id === "" ? `call_${answerId}_${position}` : id;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
