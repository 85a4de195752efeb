import type { FinishReason, ModelEvent, ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { TokenUsage } from "../../messages/token-usage.js";
import { FailureError } from "../../messages/errors.js";
import { AlikeEvents } from "../transport/event-parser.js";
import { contentFiltered } from "../failures/content-filtered.js";
import { cutAnswer } from "../failures/incomplete-answer.js";
import { GrowingText } from "../../base/text/growing-text.js";
import { countAt, recordAt, recordsAt, textAt } from "../json-fields.js";
import { ChatCalls } from "./tool-calls.js";
import { requestDigest } from "../request-digest.js";
import type { ServerEvent } from "../transport/transport.js";
import type { WireDecoder } from "../wire-answer.js";
import { errorIn, type FailureContext, serverFailure } from "../failures/wire-failure.js";

/** Here items are never told as such: they are what the deltas made when the answer is over. */
export class ChatDecoder implements WireDecoder {
  readonly #model: string;
  readonly #context: FailureContext;
  /** Servers repeat their ids, some after a thousand answers. */
  readonly #id: string;
  readonly #reasoningId: string;
  readonly #events = new AlikeEvents();
  readonly #calls = new ChatCalls();
  readonly #text = new GrowingText();
  readonly #reasoning = new GrowingText();
  #finish = "";
  #usage: TokenUsage | undefined;

  constructor(request: ModelRequest, context: FailureContext) {
    this.#model = request.model;
    this.#context = context;
    this.#id = `chat_${requestDigest(request)}`;
    this.#reasoningId = `${this.#id}_reasoning`;
  }

  decode({ data }: ServerEvent): readonly ModelEvent[] {
    if (data === "[DONE]") return this.end();
    const chunk = this.#events.read(data);
    if (isPresent(chunk["error"])) return this.#failed(chunk);
    const usage = recordAt(chunk, "usage");
    if ("prompt_tokens" in usage) this.#usage = usageOf(usage);
    const choice = recordsAt(chunk, "choices")[0];
    if (choice === undefined) return [];
    if (isPresent(choice["error"])) return this.#failed(choice);
    this.#finish ||= textAt(choice, "finish_reason");
    return this.#delta(recordAt(choice, "delta"));
  }

  /** Complete is what said how it finished: an end alone may be a cut. */
  end(): readonly ModelEvent[] {
    if (this.#finish === "") throw new FailureError(cutAnswer);
    const isFiltered = this.#finish === "content_filter";
    const isCut = this.#finish === "length";
    const calls = this.#calls.whole(isCut || isFiltered, this.#id);
    const items: ModelEvent[] = [
      ...(this.#reasoning.length === 0 ? [] : [item(this.#reasoningId, this.#reasoningItem())]),
      ...(this.#text.length === 0 ? [] : [item(this.#id, this.#message())]),
      ...calls.map(({ itemId, call }) => item(itemId, call)),
    ];
    const finishReason: FinishReason = isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop";
    if (isFiltered) return [...items, contentFiltered(this.#context)];
    const usage: ModelEvent[] = this.#usage === undefined ? [] : [{ type: "usage", usage: this.#usage }];
    return [...items, ...usage, { type: "done", finishReason }];
  }

  #delta(delta: Record<string, unknown>): readonly ModelEvent[] {
    const text = textAt(delta, "content") || textAt(delta, "refusal");
    const reasoning = textAt(delta, "reasoning_content") || textAt(delta, "reasoning");
    this.#text.add(text);
    this.#reasoning.add(reasoning);
    const said: ModelEvent[] = [];
    if (reasoning !== "") said.push({ type: "reasoning_delta", itemId: this.#reasoningId, delta: reasoning });
    if (text !== "") said.push({ type: "text_delta", itemId: this.#id, delta: text });
    if ("tool_calls" in delta) said.push(...this.#calls.add(delta, this.#id));
    return said;
  }

  #message(): ResponseItem {
    return { type: "message", role: "assistant", content: [{ type: "output_text", text: this.#text.toString() }] };
  }

  #reasoningItem(): ResponseItem {
    const content = [{ type: "reasoning_text" as const, text: this.#reasoning.toString() }];
    return { type: "reasoning", summary: [], content, origin: { api: "chat", model: this.#model } };
  }

  #failed(body: Record<string, unknown>): readonly ModelEvent[] {
    return [{ type: "failed", failure: serverFailure(errorIn(body), this.#context) }];
  }
}

const item = (itemId: string, value: ResponseItem): ModelEvent => ({ type: "item", itemId, item: value });
const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

function usageOf(usage: Record<string, unknown>): TokenUsage {
  const input_tokens = countAt(usage, "prompt_tokens");
  const output_tokens = countAt(usage, "completion_tokens");
  return {
    input_tokens,
    cached_input_tokens: countAt(recordAt(usage, "prompt_tokens_details"), "cached_tokens"),
    output_tokens,
    reasoning_output_tokens: countAt(recordAt(usage, "completion_tokens_details"), "reasoning_tokens"),
    total_tokens: countAt(usage, "total_tokens") || input_tokens + output_tokens,
  };
}
