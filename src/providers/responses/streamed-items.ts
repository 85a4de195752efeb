import { isRecord } from "../../base/is-record.js";
import { jsonOrUndefined } from "../../base/parse.js";
import { GrowingText } from "../../base/text/growing-text.js";
import { recordAt, textAt } from "../json-fields.js";

/**
 * The text of an item that a delta extends: that of a message, one of the two in a reasoning item, or a call's
 * arguments.
 */
export type TextKind = "message" | "summary" | "content" | "arguments";

interface StreamedItem {
  readonly itemId: string;
  /** The server's own id; empty if it sends none. */
  readonly id: string;
  readonly texts: Map<TextKind, GrowingText>;
  /** A call as `response.output_item.added` announced it. */
  call: Record<string, unknown> | undefined;
  /** The arguments or input from the `….done` event. Until then the call is not complete. */
  completed: Record<string, unknown> | undefined;
}

type Event = Record<string, unknown>;

/**
 * Builds items from their deltas until `response.output_item.done` reports them. If a server never reports them, the
 * items left here at the end are the answer.
 */
export class StreamedItems {
  readonly #items = new Map<string | number, StreamedItem>();
  /** Caches the text of the last delta, because the next delta nearly always extends it too. */
  #key: string | number | undefined;
  #kind: TextKind = "message";
  #text = new GrowingText();

  addText(kind: TextKind, event: Event, itemId: string, delta: string): void {
    const key = keyOf(event, itemId);
    if (key !== this.#key || kind !== this.#kind) {
      const { texts } = this.#item(key, event, itemId);
      this.#text = texts.get(kind) ?? new GrowingText();
      texts.set(kind, this.#text);
      this.#key = key;
      this.#kind = kind;
    }
    this.#text.add(delta);
  }

  /** Whether any part of the item has been received. */
  has(event: Event, itemId: string): boolean {
    return this.#items.has(keyOf(event, itemId));
  }

  announceCall(event: Event, itemId: string): void {
    const item = recordAt(event, "item");
    const type = textAt(item, "type");
    if (type !== "function_call" && type !== "custom_tool_call") return;
    this.#item(keyOf(event, itemId), event, itemId).call = item;
  }

  completeCall(event: Event, itemId: string): void {
    const { arguments: args, input } = event;
    this.#item(keyOf(event, itemId), event, itemId).completed = { arguments: args, input };
  }

  /** Drops an item that was reported as a whole. */
  forget(event: Event, itemId: string): void {
    this.#items.delete(keyOf(event, itemId));
    this.#items.delete(itemId);
    this.#key = undefined;
  }

  /** Whether an announced call has incomplete arguments. */
  get hasOpenCall(): boolean {
    return [...this.#items.values()].some(
      (streamed) => streamed.call !== undefined && callInput(streamed) === undefined,
    );
  }

  /**
   * The items that were never reported, in order and in the shape of a report. For a truncated answer, only the calls
   * whose arguments were reported as complete.
   */
  unreported(isCut: boolean): { readonly itemId: string; readonly item: Record<string, unknown> }[] {
    return [...this.#items.values()].flatMap((streamed) => {
      const item =
        isCut && streamed.call !== undefined && streamed.completed === undefined ? undefined : itemOf(streamed);
      return item === undefined ? [] : [{ itemId: streamed.itemId, item }];
    });
  }

  #item(key: string | number, event: Event, itemId: string): StreamedItem {
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const id = textAt(event, "item_id");
    const item: StreamedItem = { itemId, id, texts: new Map(), call: undefined, completed: undefined };
    this.#items.set(key, item);
    return item;
  }
}

/** Identifies an item by its index in the answer, because some servers make up a new id for every event. */
function keyOf({ output_index: index }: Event, itemId: string): string | number {
  return typeof index === "number" ? index : itemId;
}

/** A call's arguments or input: as reported, or from its deltas if they are complete. */
function callInput({ call, completed, texts }: StreamedItem): Record<string, unknown> | undefined {
  if (completed !== undefined) return completed;
  const streamed = texts.get("arguments")?.toString() ?? "";
  if (call?.["type"] === "custom_tool_call") return streamed === "" ? undefined : { input: streamed };
  return isRecord(jsonOrUndefined(streamed)) ? { arguments: streamed } : undefined;
}

function itemOf(streamed: StreamedItem): Record<string, unknown> | undefined {
  const { id, texts, call } = streamed;
  if (call !== undefined) {
    const input = callInput(streamed);
    return input === undefined ? undefined : { ...call, ...input, status: "completed" };
  }
  const parts = (kind: TextKind) => {
    const text = texts.get(kind)?.toString() ?? "";
    return text === "" ? [] : [{ text }];
  };
  const content = parts("message");
  if (content.length > 0) return { type: "message", id, content };
  const reasoning = { summary: parts("summary"), content: parts("content") };
  const isEmpty = reasoning.summary.length === 0 && reasoning.content.length === 0;
  return isEmpty ? undefined : { type: "reasoning", id, ...reasoning };
}
