import type { ResponseItem, ContentPart, ItemOrigin } from "../../../messages/response-item.js";
import type { LineObject } from "../../file/line-object.js";
import { type Fields, fieldsOf, saidText, textOf } from "../import/fields.js";
import type { Losses } from "../import/losses.js";
import { messageOf, summaryItem, textPart, told, blocksOf, imagePart, outputOf } from "../import/parts.js";
import type { SourceRecord } from "../import/source.js";
import { isoTime } from "../lines/detect.js";
import { called, said, thought } from "../lines/form-items.js";
import { isBoundary, isSynthetic } from "./survey.js";

type ItemRecord = Extract<SourceRecord, { type: "item" }>;

/** What a person typed that begins with a slash, in the words of Claude Code. */
const commandName = /^\s*(?:<command-message>[^<]*<\/command-message>\s*)?<command-name>([^<]*)<\/command-name>/;
const commandArgs = /<command-args>([^]*?)<\/command-args>/;
const localOutput = /^\s*(?:<local-command-(?:stdout|stderr|caveat)>|Caveat: The messages below were generated)/;

/** Reads the entries of the conversation one after another. */
export class ClaudeReading {
  readonly #losses: Losses;
  readonly #lastOf: ReadonlyMap<string, number>;
  readonly #kept: (position: number) => ResponseItem[];
  /** What a compaction keeps, until its summary comes. */
  #keptItems: ResponseItem[] = [];
  /** A command of which it is not known yet whether the model heard of it. */
  #command: ItemRecord | undefined;
  /** Results that came while the model was still saying what they are part of, and where that ends. */
  #early: ItemRecord[] = [];
  #saysUntil = -1;

  constructor(losses: Losses, lastOf: ReadonlyMap<string, number>, kept: (position: number) => ResponseItem[]) {
    this.#losses = losses;
    this.#lastOf = lastOf;
    this.#kept = kept;
  }

  recordsOf(entry: LineObject, position: number): SourceRecord[] {
    const timestamp = isoTime(entry["timestamp"]);
    switch (entry.type) {
      case "user":
        return this.#userRecords(entry, timestamp, position);
      case "assistant":
        return this.#modelRecords(fieldsOf(entry["message"]), timestamp, position);
      case "system":
        if (isBoundary(entry)) this.#keptItems = this.#kept(position);
        else this.#losses.count("system_notes");
        return [];
      default:
        this.#losses.count(lostEntries.get(entry.type) ?? "unknown_lines");
        return [];
    }
  }

  /** What was still held back. */
  end(): SourceRecord[] {
    return [...this.#commandHeard(false), ...this.#early.splice(0)];
  }

  #userRecords(entry: LineObject, timestamp: string, position: number): SourceRecord[] {
    const { content } = fieldsOf(entry["message"]);
    const text = textOf(content) ?? "";
    if (entry["toolUseResult"] !== undefined) this.#losses.count("tool_details");
    if (entry["isCompactSummary"] === true) return this.#replaced(content, timestamp);
    if (localOutput.test(text)) {
      this.#losses.count("local_commands");
      this.#command = undefined;
      return [];
    }
    const command = commandName.exec(text)?.[1];
    if (command !== undefined) {
      const before = this.#commandHeard(false);
      const args = commandArgs.exec(text)?.[1]?.trim() ?? "";
      const [item] = messageOf("user", [textPart("user", `${command} ${args}`.trim())]);
      if (item !== undefined) this.#command = { type: "item", timestamp, item };
      return before;
    }
    const items = userItems(content, this.#losses);
    const isTold = entry["isMeta"] === true;
    const records = (isTold ? items.flatMap(asTold) : items).map((item): ItemRecord => ({
      type: "item",
      timestamp,
      item,
    }));
    const outputs = records.filter(({ item }) => item.type === "function_call_output");
    if (position >= this.#saysUntil || outputs.length < records.length) {
      return [...this.#commandHeard(isTold), ...this.#early.splice(0), ...records];
    }
    this.#early.push(...outputs);
    return [];
  }

  #modelRecords(message: Fields, timestamp: string, position: number): SourceRecord[] {
    if (isSynthetic(message["model"])) {
      this.#losses.count("synthetic_messages");
      return [];
    }
    const last = this.#lastOf.get(textOf(message["id"]) ?? "") ?? position;
    this.#saysUntil = Math.max(this.#saysUntil, last);
    // It stands in every line of the message.
    if (message["usage"] !== undefined && position >= last) this.#losses.count("usage");
    const by = { provider: "anthropic", model: saidText(message["model"]) };
    const records = modelItems(message, this.#losses).map((item): ItemRecord => ({
      type: "item",
      timestamp,
      item,
      by,
    }));
    const early = position >= this.#saysUntil ? this.#early.splice(0) : [];
    return [...this.#commandHeard(true), ...records, ...early];
  }

  #replaced(content: unknown, timestamp: string): SourceRecord[] {
    const summary = textOf(content) ?? textsOf(userItems(content, this.#losses));
    const items = [summaryItem(summary), ...this.#keptItems];
    this.#keptItems = [];
    return [...this.end(), { type: "replaced", timestamp, summary, items }];
  }

  /** A command the model heard of was something said; another only did something in the program. */
  #commandHeard(isHeard: boolean): SourceRecord[] {
    const command = this.#command;
    this.#command = undefined;
    if (command === undefined) return [];
    if (isHeard) return [command];
    this.#losses.count("local_commands");
    return [];
  }
}

const lostEntries: ReadonlyMap<string, "attachments" | "system_notes"> = new Map([
  ["attachment", "attachments"],
  ["progress", "system_notes"],
]);

/** What the program told the model for the user; pictures stay as they are. */
function asTold(item: ResponseItem): ResponseItem[] {
  if (item.type !== "message") return [item];
  const text = textsOf([item]);
  return text === "" ? [item] : [told(text)];
}

function textsOf(items: readonly ResponseItem[]): string {
  return items
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .flatMap((part) => ("text" in part ? [part.text] : []))
    .join("\n");
}

/** What one line of a message of the model says. */
function modelItems(message: Fields, losses: Losses): ResponseItem[] {
  const model = textOf(message["model"]);
  const origin: ItemOrigin | undefined = model === undefined ? undefined : { api: "messages", model };
  const blocks = blocksOf(message["content"]);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => modelBlock(fieldsOf(block), origin, losses));
}

function modelBlock(block: Fields, origin: ItemOrigin | undefined, losses: Losses): ResponseItem[] {
  const { type, text, thinking, data, signature, id, name } = block;
  if (type === "text" && typeof text === "string") return text === "" ? [] : [said("assistant", text)];
  if (type === "tool_use" && typeof id === "string" && typeof name === "string") {
    return [called(id, name, block["input"])];
  }
  if (type === "thinking" && typeof thinking === "string") {
    if (textOf(signature) === undefined || origin === undefined)
      return thinking === "" ? [] : [thought(thinking, undefined)];
    return [{ ...thought(thinking, signature), origin }];
  }
  if (type === "redacted_thinking" && typeof data === "string" && origin !== undefined) {
    return [{ type: "reasoning", summary: [], encrypted_content: data, origin }];
  }
  // Those the provider runs itself, and what came of them.
  const isServers = typeof type === "string" && (type === "server_tool_use" || /^\w+_tool_result$/.test(type));
  losses.count(isServers ? "server_tools" : "unknown_parts");
  return [];
}

/** What a line of the user's side says: outputs of calls first, then what a person said. */
function userItems(content: unknown, losses: Losses): ResponseItem[] {
  const blocks = blocksOf(content);
  if (blocks === undefined) losses.count("unknown_parts");
  const outputs: ResponseItem[] = [];
  const parts: ContentPart[] = [];
  for (const block of (blocks ?? []).map(fieldsOf)) {
    const { type, tool_use_id: callId } = block;
    if (type === "tool_result" && typeof callId === "string") {
      if (block["is_error"] === true) losses.count("error_marks");
      outputs.push(outputOf(callId, inputParts(blocksOf(block["content"] ?? ""), losses)));
    } else {
      parts.push(...inputParts([block], losses));
    }
  }
  return [...outputs, ...messageOf("user", parts)];
}

function inputParts(blocks: readonly unknown[] | undefined, losses: Losses): ContentPart[] {
  return (blocks ?? []).map(fieldsOf).flatMap((block) => {
    const { type, text } = block;
    if (type === "text" && typeof text === "string") return text === "" ? [] : [textPart("user", text)];
    const image = type === "image" ? imageOf(fieldsOf(block["source"])) : undefined;
    if (image === undefined) losses.count(lostKind(type));
    return image ?? [];
  });
}

function lostKind(type: unknown): "images" | "documents" | "unknown_parts" {
  if (type === "image") return "images";
  return type === "document" ? "documents" : "unknown_parts";
}

function imageOf({ type, media_type: mediaType, data, url }: Fields): ContentPart | undefined {
  if (type === "url" && typeof url === "string") return { type: "input_image", image_url: url };
  return type === "base64" ? imagePart(mediaType, data) : undefined;
}
