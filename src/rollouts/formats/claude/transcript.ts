import type { ResponseItem } from "../../../messages/response-item.js";
import { isoTime } from "../lines/detect.js";
import type { LineObject } from "../../file/line-object.js";
import { modelItems, userItems } from "./items.js";
import { isBoundary, isSynthetic } from "./survey.js";
import { type Fields, fieldsOf, saidText, textOf } from "../import/fields.js";
import type { Losses } from "../import/losses.js";
import { messageOf, summaryItem, textPart, told } from "../import/parts.js";
import type { SourceRecord } from "../import/source.js";

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
