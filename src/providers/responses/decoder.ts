import type { Responses } from "openai/resources/responses/responses";
import { isRecord } from "../../base/is-record.js";
import type { ModelEvent, ModelRequest } from "../../messages/model.js";
import { messageText, type ResponseItem, type ItemOrigin } from "../../messages/response-item.js";
import { BufferedBytes, type WireDecoder } from "../wire-answer.js";
import { contentFiltered, errorIn, type FailureContext, serverFailure } from "../failures/wire-failure.js";
import { incompleteAnswer } from "../failures/answer-error.js";
import { countAt, recordAt, recordsAt, textAt } from "../json-fields.js";
import { requestDigest } from "../provider.js";
import { EventParser } from "../transport/event-parser.js";
import { brace, bracket, colon, comma, endOfString, endOfValue, quote } from "../transport/event-json.js";
import { itemOverheadBytes, type ServerEvent } from "../transport/transport.js";
import { StreamedItems, type TextKind } from "./streamed-items.js";
import { FailureError } from "../../messages/failure-error.js";

const summaryText = (text: string) => ({ type: "summary_text" as const, text });

const reasoningText = (text: string) => ({ type: "reasoning_text" as const, text });

/** Fields of a response that repeat its request. */
const echoed: ReadonlySet<string> = new Set(["instructions", "tools"]);

type EventType = Responses.ResponseStreamEvent["type"];

/**
 * Events without useful content that are frequent, or long because they repeat the request. They are skipped unparsed.
 */
const skippedEvents: ReadonlySet<string> = new Set<EventType>([
  "response.created",
  "response.queued",
  "response.in_progress",
  "response.content_part.added",
  "response.content_part.done",
  "response.output_text.annotation.added",
  "response.refusal.done",
  "response.reasoning_text.done",
  "response.reasoning_summary_text.done",
  "response.reasoning_summary_part.done",
]);
/** The events that end an answer; each contains the whole response. */
const ends: ReadonlySet<string> = new Set<EventType>(["response.completed", "response.incomplete", "response.failed"]);
const callTypes: ReadonlySet<string> = new Set(["function_call", "custom_tool_call", "local_shell_call"]);
const nothing: readonly ModelEvent[] = [];

const hasMessageText = (item: ResponseItem): boolean => item.type === "message" && messageText(item) !== "";

export class ResponsesDecoder implements WireDecoder {
  readonly #request: ModelRequest;
  readonly #context: FailureContext;
  readonly #events = new EventParser();
  readonly #streamed = new StreamedItems();
  readonly #buffered = new BufferedBytes();
  /** The argument bytes received for the current call. */
  #argumentBytes = 0;
  readonly #reported = new Set<string>();
  /** The types of the reported items, by their index in the answer. */
  readonly #reportedAt = new Map<unknown, string>();
  /** The ids of started calls, by index: some servers make up a new id for every event. */
  readonly #callAt = new Map<unknown, string>();
  #calls = 0;
  #digest: string | undefined;

  constructor(request: ModelRequest, context: FailureContext) {
    this.#request = request;
    this.#context = context;
  }

  decode({ event, data }: ServerEvent): readonly ModelEvent[] {
    if (skippedEvents.has(event) || data === "[DONE]") return nothing;
    const value = this.#events.read(ends.has(event) ? withoutEcho(data) : data);
    // Events not listed here are ignored, including those of later API versions.
    switch (textAt(value, "type") as EventType) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#textDelta("message", value, textAt(value, "delta"));
      case "response.output_text.done":
        return this.#textDone(value);
      case "response.reasoning_summary_text.delta":
        return this.#textDelta("summary", value, textAt(value, "delta"));
      case "response.reasoning_text.delta":
        return this.#textDelta("content", value, textAt(value, "delta"));
      case "response.reasoning_summary_part.added":
        // Each part is a separate paragraph.
        return countAt(value, "summary_index") === 0 ? nothing : this.#textDelta("summary", value, "\n\n");
      case "response.output_item.added":
        return [...this.#begin(value), ...this.#buffered.add(data.length)];
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#argumentDelta(value, textAt(value, "delta"));
      case "response.function_call_arguments.done":
      case "response.custom_tool_call_input.done":
        this.#streamed.completeCall(value, this.#itemId(value, "item_id"));
        return this.#argumentsDone(textAt(value, "arguments").length + textAt(value, "input").length);
      case "response.output_item.done":
        return this.#item(recordAt(value, "item"), value);
      case "response.completed":
        return this.#done(recordAt(value, "response"), "stop");
      case "response.incomplete":
        return this.#incomplete(recordAt(value, "response"));
      case "response.failed":
        return this.#failed(recordAt(value, "response"));
      case "error":
        // The event's type does not describe the error.
        return this.#failed("error" in value ? value : { error: { ...value, type: undefined } });
      default:
        return nothing;
    }
  }

  end(): readonly ModelEvent[] {
    throw new FailureError(incompleteAnswer);
  }

  #begin(event: Record<string, unknown>): readonly ModelEvent[] {
    const item = recordAt(event, "item");
    const itemId = this.#itemId({ ...event, id: item["id"] }, "id");
    this.#streamed.announceCall(event, itemId);
    const type = textAt(item, "type");
    const name = textAt(item, "name");
    if ((type !== "function_call" && type !== "custom_tool_call") || name === "") return nothing;
    this.#callAt.set(event["output_index"], itemId);
    return [{ type: "tool_call_start", itemId, callId: textAt(item, "call_id"), name }];
  }

  #textDelta(kind: TextKind, event: Record<string, unknown>, delta: string): readonly ModelEvent[] {
    const itemId = this.#itemId(event, "item_id");
    this.#streamed.addText(kind, event, itemId, delta);
    return [{ type: kind === "message" ? "text_delta" : "reasoning_delta", itemId, delta }];
  }

  /** The complete text repeats its deltas; a server may send it without them. */
  #textDone(event: Record<string, unknown>): readonly ModelEvent[] {
    const text = textAt(event, "text");
    const isKnown =
      this.#reportedAt.has(event["output_index"]) || this.#streamed.has(event, this.#itemId(event, "item_id"));
    return isKnown || text === "" ? nothing : this.#textDelta("message", event, text);
  }

  #argumentDelta(event: Record<string, unknown>, delta: string): readonly ModelEvent[] {
    this.#argumentBytes += delta.length;
    this.#streamed.addText("arguments", event, this.#itemId(event, "item_id"), delta);
    const itemId = this.#callAt.get(event["output_index"]) ?? this.#itemId(event, "item_id");
    return [{ type: "tool_call_delta", itemId, delta }];
  }

  /** The complete arguments repeat their deltas, but a server may send them without any. */
  #argumentsDone(length: number): readonly ModelEvent[] {
    const missing = Math.max(0, length - this.#argumentBytes);
    this.#argumentBytes = 0;
    return this.#buffered.add(missing);
  }

  #item(item: Record<string, unknown>, place: Record<string, unknown>): readonly ModelEvent[] {
    const index = place["output_index"];
    const itemId = this.#callAt.get(index) ?? this.#itemId({ ...place, id: item["id"] }, "id");
    this.#callAt.delete(index);
    this.#streamed.forget(place, itemId);
    this.#reportedAt.set(index, textAt(item, "type"));
    const reported = this.#report(item, itemId);
    // An item that is not passed on still takes up memory here.
    return reported.length === 0 ? this.#buffered.add(itemOverheadBytes) : reported;
  }

  #report(item: Record<string, unknown>, itemId: string): readonly ModelEvent[] {
    const known = responsesItem(item, { api: "responses", model: this.#request.model });
    // A server may report an item more than once; the last event often repeats all of them.
    const key = `${itemId} ${textAt(item, "call_id")}`;
    if (known === undefined || this.#reported.has(key)) return nothing;
    this.#reported.add(key);
    if (callTypes.has(known.type)) this.#calls += 1;
    return [{ type: "item", itemId, item: known }];
  }

  #done(response: Record<string, unknown>, end: "stop" | "length"): readonly ModelEvent[] {
    const usage = recordAt(response, "usage");
    const input_tokens = countAt(usage, "input_tokens");
    const output_tokens = countAt(usage, "output_tokens");
    const items = this.#lastItems(recordsAt(response, "output"), end === "length");
    // Half a call must not run, and must not be lost silently.
    if (end === "stop" && this.#streamed.hasOpenCall) return [...items, { type: "failed", failure: incompleteAnswer }];
    const finishReason = end === "stop" && this.#calls > 0 ? "tool_calls" : end;
    return [
      ...items,
      {
        type: "usage",
        usage: {
          input_tokens,
          cached_input_tokens: countAt(recordAt(usage, "input_tokens_details"), "cached_tokens"),
          output_tokens,
          reasoning_output_tokens: countAt(recordAt(usage, "output_tokens_details"), "reasoning_tokens"),
          total_tokens: countAt(usage, "total_tokens") || input_tokens + output_tokens,
        },
      },
      { type: "done", finishReason },
    ];
  }

  /** Some servers report items only in the last event, and some not even there. */
  #lastItems(output: readonly Record<string, unknown>[], isCut: boolean): readonly ModelEvent[] {
    const streamed = this.#streamed.unreported(isCut);
    const unreported = output.flatMap((item, index) =>
      this.#reportedAt.get(index) === textAt(item, "type") ? [] : this.#item(item, { output_index: index }),
    );
    const hasText = unreported.some((event) => event.type === "item" && hasMessageText(event.item));
    // The last event may contain other items and omit the streamed text.
    const left = output.length === 0 ? streamed : streamed.filter(({ item }) => item["type"] === "message" && !hasText);
    const rebuilt = left.flatMap(({ item, itemId }) => this.#report(item, itemId));
    if (rebuilt.length === 0) return unreported;
    const others = unreported.filter((event) => !(event.type === "item" && event.item.type === "message"));
    const firstCall = others.findIndex((event) => event.type === "item" && event.item.type !== "reasoning");
    return others.toSpliced(firstCall === -1 ? others.length : firstCall, 0, ...rebuilt);
  }

  #incomplete(response: Record<string, unknown>): readonly ModelEvent[] {
    const events = this.#done(response, "length");
    const isFiltered = textAt(recordAt(response, "incomplete_details"), "reason") === "content_filter";
    return isFiltered ? [...events.slice(0, -1), contentFiltered(this.#context)] : events;
  }

  #failed(body: Record<string, unknown>): readonly ModelEvent[] {
    return [{ type: "failed", failure: serverFailure(errorIn(body), this.#context) }];
  }

  /** The server's id; without one, an id made from the item's index. */
  #itemId(value: Record<string, unknown>, key: string): string {
    const { output_index: index } = value;
    const place = typeof index === "number" ? index : this.#reported.size;
    return textAt(value, key) || `item_${(this.#digest ??= requestDigest(this.#request))}_${place}`;
  }
}

/**
 * Removes from a final event the fields that repeat the request: parsing them would take longer than the rest of the
 * answer. If the input is a JSON object, so is the result.
 */
export function withoutEcho(json: string): string {
  let result = "";
  let from = 0;
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === brace || code === bracket) depth += 1;
    else if (code === brace + 2 || code === bracket + 2) depth -= 1;
    if (code !== quote) continue;
    const end = endOfString(json, index);
    if (depth !== 2 || json.charCodeAt(end + 1) !== colon || !echoed.has(json.slice(index + 1, end))) {
      index = end;
      continue;
    }
    result += json.slice(from, index);
    from = endOfValue(json, end + 2);
    if (json.charCodeAt(from) === comma) from += 1;
    else result = result.replace(/,\s*$/, "");
    index = from - 1;
  }
  return from === 0 ? json : result + json.slice(from);
}

/**
 * Converts a finished item and keeps only its known fields. Returns undefined for an item type that was not requested,
 * and for an incomplete call: half a call must never run.
 */
function responsesItem(item: Record<string, unknown>, origin: ItemOrigin): ResponseItem | undefined {
  const id = textAt(item, "id") || undefined;
  const callId = textAt(item, "call_id");
  const name = textAt(item, "name");
  const isUnfinished = item["status"] === "incomplete" || item["status"] === "in_progress";
  const isWhole = callId !== "" && name !== "" && !isUnfinished;
  switch (textAt(item, "type")) {
    case "message": {
      const content = recordsAt(item, "content").map((part) => ({
        type: "output_text" as const,
        text: textAt(part, "text") || textAt(part, "refusal"),
      }));
      return { type: "message", role: "assistant", content, ...(id === undefined ? {} : { id }) };
    }
    case "reasoning": {
      const summary = recordsAt(item, "summary").map((part) => summaryText(textAt(part, "text")));
      const content = recordsAt(item, "content").map((part) => reasoningText(textAt(part, "text")));
      const encrypted = textAt(item, "encrypted_content");
      return {
        type: "reasoning",
        ...(id === undefined ? {} : { id }),
        summary,
        ...(content.length === 0 ? {} : { content }),
        ...(encrypted === "" ? {} : { encrypted_content: encrypted }),
        origin,
      };
    }
    case "function_call": {
      if (!isWhole || typeof item["arguments"] !== "string") return undefined;
      const namespace = textAt(item, "namespace");
      const call = { type: "function_call" as const, name, arguments: item["arguments"], call_id: callId };
      return { ...call, ...(id === undefined ? {} : { id }), ...(namespace === "" ? {} : { namespace }) };
    }
    case "custom_tool_call": {
      if (!isWhole || typeof item["input"] !== "string") return undefined;
      const status = textAt(item, "status");
      const call = { type: "custom_tool_call" as const, name, input: item["input"], call_id: callId };
      return status === "" ? call : { ...call, status };
    }
    case "local_shell_call": {
      const called = callId || id;
      if (called === undefined || isUnfinished || !hasType(item["action"])) return undefined;
      const status = textAt(item, "status") || "completed";
      return { type: "local_shell_call", call_id: called, status, action: item["action"] };
    }
    case "web_search_call": {
      const status = textAt(item, "status");
      return {
        type: "web_search_call",
        ...(id === undefined ? {} : { id }),
        ...(status === "" ? {} : { status }),
        ...(hasType(item["action"]) ? { action: item["action"] } : {}),
      };
    }
    default:
      return undefined;
  }
}

function hasType(action: unknown): action is { [key: string]: unknown; type: string } {
  return isRecord(action) && typeof action["type"] === "string";
}
