import { isRecord } from "../../base/is-record.js";
import { GrowingText } from "../../base/text/growing-text.js";
import type { Failure } from "../../messages/failure.js";
import type { FinishReason, ModelEvent } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { TokenUsage } from "../../messages/token-usage.js";
import { BufferedBytes, type WireDecoder } from "../wire-answer.js";
import { incompleteAnswer } from "../failures/answer-error.js";
import { errorIn, type FailureContext, serverFailure } from "../failures/wire-failure.js";
import { textAt } from "../json-fields.js";
import { EventParser } from "../transport/event-parser.js";
import type { ServerEvent } from "../transport/transport.js";

const counts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"] as const;

const nothing: readonly ModelEvent[] = [];

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
};

const refused: Failure = { code: "content_filtered", message: "the model declined to answer", retryable: false };

/** Decodes the events of one answer of the Messages API. */
export class AnthropicDecoder implements WireDecoder {
  readonly #model: string;
  readonly #context: FailureContext;
  readonly #events = new EventParser();
  readonly #usage = new AnthropicUsage();
  readonly #buffered = new BufferedBytes();
  readonly #open = new Map<unknown, OpenBlock>();
  /** A stopped block, held back until it is known whether it is complete. */
  #stopped: OpenBlock | undefined;
  #messageId = "message";
  #stopReason = "";
  #hasCalls = false;

  constructor(model: string, context: FailureContext) {
    this.#model = model;
    this.#context = context;
  }

  decode({ data }: ServerEvent): readonly ModelEvent[] {
    const event = this.#events.read(data);
    switch (event["type"]) {
      case "content_block_delta":
        return this.#delta(event);
      case "content_block_start":
        return [...this.#start(event), ...this.#buffered.add(data.length)];
      case "content_block_stop":
        return this.#stop(event);
      case "message_start":
        this.#begin(event["message"]);
        return nothing;
      case "message_delta":
        this.#usage.read(event["usage"]);
        if (isRecord(event["delta"])) this.#stopReason = textAt(event["delta"], "stop_reason") || this.#stopReason;
        return nothing;
      case "message_stop":
        return this.#endOfMessage();
      case "error":
        return [{ type: "failed", failure: serverFailure(errorIn(event), this.#context) }];
      default:
        return nothing;
    }
  }

  /** Only `message_stop` completes an answer, and `end` is not called after that. */
  end(): readonly ModelEvent[] {
    return [this.#failed(incompleteAnswer)];
  }

  #begin(message: unknown): void {
    if (!isRecord(message)) return;
    this.#messageId = textAt(message, "id") || this.#messageId;
    this.#usage.read(message["usage"]);
  }

  #start({ index, content_block }: Record<string, unknown>): readonly ModelEvent[] {
    const events = this.#release(false);
    if (!isRecord(content_block)) return events;
    const block = openBlock(content_block, `${this.#messageId}_${String(index)}`, this.#model);
    if (block === undefined) return events;
    this.#open.set(index, block);
    // A server may start a block with some of its text.
    const visibleBlock = content_block["type"] === "thinking" ? { thinking: content_block["thinking"] } : content_block;
    const first = block.read(visibleBlock);
    return [...events, ...[block.started, first].filter((event) => event !== undefined)];
  }

  #delta({ index, delta }: Record<string, unknown>): readonly ModelEvent[] {
    const block = this.#open.get(index);
    if (block === undefined || !isRecord(delta)) return nothing;
    const event = block.read(delta);
    if (event !== undefined) return [event];
    return this.#buffered.add(textAt(delta, "signature").length);
  }

  #stop({ index }: Record<string, unknown>): readonly ModelEvent[] {
    const events = this.#release(false);
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block === undefined) return events;
    if (!block.mayBeCut) return [...events, ...this.#finish(block, false)];
    this.#stopped = block;
    return events;
  }

  #release(isCut: boolean): readonly ModelEvent[] {
    const block = this.#stopped;
    this.#stopped = undefined;
    return block === undefined ? nothing : this.#finish(block, isCut);
  }

  #finish(block: OpenBlock, isCut: boolean): readonly ModelEvent[] {
    const item = block.finish(isCut);
    if (item === undefined) return nothing;
    if (item.type === "function_call") this.#hasCalls = true;
    return [{ type: "item", itemId: block.itemId, item }];
  }

  #endOfMessage(): readonly ModelEvent[] {
    const reason = finishReasons[this.#stopReason];
    const open = [...this.#open.values()];
    const events = [
      ...this.#release(reason === "length"),
      ...open.filter((block) => block.endsWithMessage).flatMap((block) => this.#finish(block, false)),
    ];
    if (open.some((block) => !block.endsWithMessage)) return [...events, ...this.end()];
    if (this.#stopReason === "refusal") return [...events, this.#failed(refused)];
    return [
      ...events,
      { type: "usage", usage: this.#usage.total() },
      { type: "done", finishReason: reason ?? (this.#hasCalls ? "tool_calls" : "stop") },
    ];
  }

  #failed(failure: Failure): ModelEvent {
    const message = `${this.#context.provider}: ${failure.message}`;
    return { type: "failed", failure: { ...failure, message } };
  }
}

/** Token usage: reported at the start of an answer, and again, possibly in part, at its end. */
class AnthropicUsage {
  readonly #counts: Record<(typeof counts)[number], number> = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 0,
  };
  #thinking = 0;

  read(usage: unknown): void {
    if (!isRecord(usage)) return;
    for (const name of counts) this.#counts[name] = tokens(usage[name]) ?? this.#counts[name];
    const details = usage["output_tokens_details"];
    if (isRecord(details)) this.#thinking = tokens(details["thinking_tokens"]) ?? this.#thinking;
  }

  /** The API counts tokens read from and written to its cache separately from the input tokens. */
  total(): TokenUsage {
    const { cache_read_input_tokens: cached, output_tokens } = this.#counts;
    const input_tokens = this.#counts.input_tokens + cached + this.#counts.cache_creation_input_tokens;
    return {
      input_tokens,
      cached_input_tokens: cached,
      output_tokens,
      reasoning_output_tokens: this.#thinking,
      total_tokens: input_tokens + output_tokens,
    };
  }
}

function tokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** A content block of an answer while it is being received. */
interface OpenBlock {
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
function openBlock(block: Record<string, unknown>, itemId: string, model: string): OpenBlock | undefined {
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
