import { isRecord } from "../../base/is-record.js";
import type { ModelEvent } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { GrowingText } from "../../base/text/growing-text.js";
import { textAt } from "../json-fields.js";

/** A content block of an answer while it is being received. */
export interface OpenBlock {
  readonly itemId: string;
  /** The event that announces the block, if it has one. */
  readonly started?: ModelEvent;
  /** Adds a delta; returns the event to show, if any. */
  read(delta: Record<string, unknown>): ModelEvent | undefined;
  /** Whether the block may have been cut off although it has stopped. Only the end of the answer tells. */
  readonly mayBeCut: boolean;
  /**
   * Whether the block is complete without its own stop event when the message ends. Not so for a call: half a call must
   * never run.
   */
  readonly endsWithMessage: boolean;
  /** The item for the history; undefined if the block is empty. */
  finish(isCut: boolean): ResponseItem | undefined;
}

/** Undefined for a kind of block that was not requested. */
export function openBlock(block: Record<string, unknown>, itemId: string, model: string): OpenBlock | undefined {
  switch (block["type"]) {
    case "text":
      return new TextBlock(itemId);
    case "thinking":
      return new ThinkingBlock(itemId, textAt(block, "signature"), model);
    case "redacted_thinking":
      return new RedactedBlock(itemId, textAt(block, "data"), model);
    case "tool_use":
      return new ToolUseBlock(itemId, block);
    default:
      return undefined;
  }
}

class TextBlock implements OpenBlock {
  readonly itemId: string;
  readonly mayBeCut = false;
  readonly endsWithMessage = true;
  readonly #text = new GrowingText();

  constructor(itemId: string) {
    this.itemId = itemId;
  }

  read(delta: Record<string, unknown>): ModelEvent | undefined {
    const text = textAt(delta, "text");
    if (text === "") return undefined;
    this.#text.add(text);
    return { type: "text_delta", itemId: this.itemId, delta: text };
  }

  finish(): ResponseItem | undefined {
    if (this.#text.length === 0) return undefined;
    return { type: "message", role: "assistant", content: [{ type: "output_text", text: this.#text.toString() }] };
  }
}

class ThinkingBlock implements OpenBlock {
  readonly itemId: string;
  readonly mayBeCut = false;
  readonly endsWithMessage = true;
  readonly #model: string;
  readonly #text = new GrowingText();
  #signature: string;

  constructor(itemId: string, signature: string, model: string) {
    this.itemId = itemId;
    this.#signature = signature;
    this.#model = model;
  }

  read(delta: Record<string, unknown>): ModelEvent | undefined {
    this.#signature += textAt(delta, "signature");
    const text = textAt(delta, "thinking");
    if (text === "") return undefined;
    this.#text.add(text);
    return { type: "reasoning_delta", itemId: this.itemId, delta: text };
  }

  finish(): ResponseItem | undefined {
    if (this.#text.length === 0 && this.#signature === "") return undefined;
    return {
      type: "reasoning",
      summary: [],
      content: [{ type: "reasoning_text", text: this.#text.toString() }],
      ...(this.#signature === "" ? {} : { encrypted_content: this.#signature }),
      origin: { api: "messages", model: this.#model },
    };
  }
}

class RedactedBlock implements OpenBlock {
  readonly itemId: string;
  readonly mayBeCut = false;
  readonly endsWithMessage = true;
  readonly #data: string;
  readonly #model: string;

  constructor(itemId: string, data: string, model: string) {
    this.itemId = itemId;
    this.#data = data;
    this.#model = model;
  }

  read(): undefined {
    return undefined;
  }

  finish(): ResponseItem | undefined {
    if (this.#data === "") return undefined;
    const origin = { api: "messages", model: this.#model } as const;
    return { type: "reasoning", summary: [], encrypted_content: this.#data, origin };
  }
}

class ToolUseBlock implements OpenBlock {
  readonly itemId: string;
  readonly endsWithMessage = false;
  readonly #name: string;
  readonly #callId: string;
  readonly #input: unknown;
  readonly #json = new GrowingText();

  constructor(itemId: string, block: Record<string, unknown>) {
    this.itemId = itemId;
    this.#name = textAt(block, "name");
    this.#callId = textAt(block, "id");
    this.#input = block["input"];
  }

  get started(): ModelEvent {
    return { type: "tool_call_start", itemId: this.itemId, callId: this.#callId, name: this.#name };
  }

  read(delta: Record<string, unknown>): ModelEvent | undefined {
    const text = textAt(delta, "partial_json");
    if (text === "") return undefined;
    this.#json.add(text);
    return { type: "tool_call_delta", itemId: this.itemId, delta: text };
  }

  get mayBeCut(): boolean {
    return this.#json.length === 0 && !this.#hasInput();
  }

  finish(isCut: boolean): ResponseItem {
    return { type: "function_call", name: this.#name, arguments: this.#arguments(isCut), call_id: this.#callId };
  }

  #arguments(isCut: boolean): string {
    if (this.#json.length > 0) return this.#json.toString();
    if (this.#hasInput()) return JSON.stringify(this.#input);
    // No input arrived. A cut-off call gets invalid arguments, because running it without input would be a different
    // call.
    return isCut ? "{" : "{}";
  }

  /** Servers that only resemble the API send the input all at once. */
  #hasInput(): boolean {
    return isRecord(this.#input) && Object.keys(this.#input).length > 0;
  }
}
