import { GrowingText } from "../../base/text/growing-text.js";
import type { FinishReason, ModelEvent, ModelRequest } from "../../messages/model.js";
import type { ResponseItem, FunctionCallItem } from "../../messages/response-item.js";
import type { TokenUsage } from "../../messages/token-usage.js";
import { contentFiltered, errorIn, type FailureContext, serverFailure } from "../failures/wire-failure.js";
import { incompleteAnswer } from "../failures/answer-error.js";
import { countAt, recordAt, recordsAt, textAt } from "../json-fields.js";
import { requestDigest } from "../provider.js";
import { EventParser } from "../transport/event-parser.js";
import { itemOverheadBytes, type ServerEvent } from "../transport/transport.js";
import type { WireDecoder } from "../wire-answer.js";
import { FailureError } from "../../messages/failure-error.js";

/** Chat Completions has no item events: the items are assembled from the deltas at the end of the answer. */
export class ChatDecoder implements WireDecoder {
  readonly #model: string;
  readonly #context: FailureContext;
  /** Made from the request, because servers repeat their ids, some after a thousand answers. */
  readonly #id: string;
  readonly #reasoningId: string;
  readonly #events = new EventParser();
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

  /** An answer is complete only if it has a finish reason: the end of the stream alone may be a lost connection. */
  end(): readonly ModelEvent[] {
    if (this.#finish === "") throw new FailureError(incompleteAnswer);
    const isFiltered = this.#finish === "content_filter";
    const isCut = this.#finish === "length";
    const calls = this.#calls.whole(isCut || isFiltered, this.#id);
    const items: ModelEvent[] = [
      ...(this.#reasoning.length === 0 ? [] : [itemEvent(this.#reasoningId, this.#reasoningItem())]),
      ...(this.#text.length === 0 ? [] : [itemEvent(this.#id, this.#message())]),
      ...calls.map(({ itemId, call }) => itemEvent(itemId, call)),
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
    const events: ModelEvent[] = [];
    if (reasoning !== "") events.push({ type: "reasoning_delta", itemId: this.#reasoningId, delta: reasoning });
    if (text !== "") events.push({ type: "text_delta", itemId: this.#id, delta: text });
    if ("tool_calls" in delta) events.push(...this.#calls.add(delta, this.#id));
    return events;
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

const itemEvent = (itemId: string, value: ResponseItem): ModelEvent => ({ type: "item", itemId, item: value });
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

interface OpenCall {
  /** The call's position in the answer, from 0. */
  readonly position: number;
  readonly index: unknown;
  id: string;
  name: string;
  readonly args: GrowingText;
}

/** Assembles calls that arrive in pieces over many chunks. */
class ChatCalls {
  readonly #calls: OpenCall[] = [];

  /**
   * Reads a chunk's pieces. Returns deltas for calls whose name is known, and reports the buffered bytes of the others.
   */
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

  /** The calls in order. A call that was cut off by the end of the answer is left out: half a call must never run. */
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

  /** Pieces of a call share its index. Servers that use the same index for every call still give each an id. */
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

/** Some servers send an object instead of a JSON string. */
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
