import { type Answer, AnswerBuilder } from "../answer.js";
import { fieldsText } from "../json.js";
import type { MockReply } from "../script.js";
import { argumentPieces, partsOf } from "../split-deltas.js";
import type { Exchange } from "../wire-api.js";
import { type OutputItem, outputItems, outputText } from "./items.js";
import { finalStatus, responseTexts } from "./response.js";

/** The item that an event belongs to. */
interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

/** The events of a response, with sequence numbers. */
export function streamedResponse(reply: MockReply, exchange: Exchange): Answer {
  const id = exchange.ids.next("resp_");
  const output = outputItems(reply, exchange);
  exchange.remember(id, output);
  const events = new NumberedEvents();
  const textOf = responseTexts(id, exchange);
  const begun = `"response":${textOf({ status: "in_progress", output: [] })}`;
  events.sendText("response.created", begun);
  events.sendText("response.in_progress", begun);
  for (const [index, item] of output.entries()) sendItem(events, item, index, reply);
  const status = finalStatus(reply);
  return events.finish(`response.${status}`, `"response":${textOf({ status, output })}`);
}

class NumberedEvents {
  readonly #answer = new AnswerBuilder();
  #number = 0;

  send(type: string, fields: object): void {
    this.sendText(type, fieldsText(fields));
  }

  sendText(type: string, fields: string): void {
    this.#answer.event(this.#numbered(type, fields));
  }

  /** Encodes only the parts that differ for each delta. */
  deltas(type: string, place: object, quoted: readonly string[]): void {
    const start = `event: ${type}\ndata: {"type":"${type}",${fieldsText(place)},"delta":`;
    const first = this.#number;
    this.#answer.deltas(quoted, (delta, nth) => `${start}${delta},"sequence_number":${first + nth}}\n\n`);
    this.#number += quoted.length;
  }

  finish(type: string, fields: string): Answer {
    return this.#answer.finish(this.#numbered(type, fields));
  }

  #numbered(type: string, fields: string): string {
    const text = `event: ${type}\ndata: {"type":"${type}",${fields},"sequence_number":${this.#number}}\n\n`;
    this.#number += 1;
    return text;
  }
}

function sendItem(events: NumberedEvents, item: OutputItem, output_index: number, reply: MockReply): void {
  const place = { item_id: item.id, output_index };
  events.send("response.output_item.added", { output_index, item: unfinished(item) });
  if (item.type === "reasoning") sendReasoning(events, place, reply);
  else if (item.type === "message") sendText(events, place, reply);
  else if (item.type === "function_call") sendArguments(events, place, item);
  else if (item.type === "custom_tool_call") sendInput(events, place, item);
  events.send("response.output_item.done", { output_index, item });
}

function unfinished(item: OutputItem): object {
  if (item.type === "reasoning") return { ...item, summary: [] };
  if (item.type === "message") return { ...item, status: "in_progress", content: [] };
  if (item.type === "function_call") return { ...item, status: "in_progress", arguments: "" };
  return { ...item, status: "in_progress", ...(item.type === "custom_tool_call" ? { input: "" } : {}) };
}

function sendReasoning(events: NumberedEvents, item: Place, reply: MockReply): void {
  const { reasoning, reasoningDeltas } = partsOf(reply);
  const place = { ...item, summary_index: 0 };
  const part = { type: "summary_text", text: "" };
  events.send("response.reasoning_summary_part.added", { ...place, part });
  events.deltas("response.reasoning_summary_text.delta", place, reasoningDeltas);
  events.send("response.reasoning_summary_text.done", { ...place, text: reasoning });
  events.send("response.reasoning_summary_part.done", { ...place, part: { ...part, text: reasoning } });
}

function sendText(events: NumberedEvents, item: Place, reply: MockReply): void {
  const { text, textDeltas } = partsOf(reply);
  const place = { ...item, content_index: 0 };
  events.send("response.content_part.added", { ...place, part: outputText("") });
  events.deltas("response.output_text.delta", { ...place, logprobs: [] }, textDeltas);
  events.send("response.output_text.done", { ...place, text, logprobs: [] });
  events.send("response.content_part.done", { ...place, part: outputText(text) });
}

function sendArguments(
  events: NumberedEvents,
  place: Place,
  call: Extract<OutputItem, { type: "function_call" }>,
): void {
  const pieces = argumentPieces(call.arguments).map((piece) => JSON.stringify(piece));
  events.deltas("response.function_call_arguments.delta", place, pieces);
  const done = { ...place, name: call.name, arguments: call.arguments };
  events.send("response.function_call_arguments.done", done);
}

function sendInput(
  events: NumberedEvents,
  place: Place,
  { input }: Extract<OutputItem, { type: "custom_tool_call" }>,
): void {
  const pieces = argumentPieces(input).map((piece) => JSON.stringify(piece));
  events.deltas("response.custom_tool_call_input.delta", place, pieces);
  events.send("response.custom_tool_call_input.done", { ...place, input });
}
