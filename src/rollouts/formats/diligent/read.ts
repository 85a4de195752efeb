import { isRecord, fieldsOf, textOf } from "../../../base/is-record.js";
import { ImportError } from "../../../base/errors.js";
import {
  type ResponseItem,
  type ContentPart,
  type ItemOrigin,
  ReasoningItem,
} from "../../../messages/response-item.js";
import type { LineObject } from "../../file/lines.js";
import { codexRecords } from "../codex/read.js";
import {
  type Fields,
  nonBlankText,
  summaryItem,
  blocksOf,
  imagePart,
  messageOf,
  outputOf,
  shellCommand,
  textPart,
  developerMessage,
} from "../import/parts.js";
import { KeptItemBuffer, type KeptRange, EntryPath } from "../import/entry-path.js";
import {
  type Losses,
  sourceLines,
  type AnsweredBy,
  type ReadSource,
  type SourceFile,
  type SourceRecord,
  type SourceFacts,
} from "../import/source.js";
import { isoTime } from "../lines/detect-format.js";
import { callOutputItem, callItem, messageItem, reasoningItem } from "../lines/converted-items.js";
import { filesText } from "./lines.js";

/** Maps pi's names of APIs to cody's. */
const apis: ReadonlyMap<unknown, ItemOrigin["api"]> = new Map([
  ["anthropic-messages", "messages"],
  ["openai-responses", "responses"],
  ["openai-codex-responses", "responses"],
  ["azure-openai-responses", "responses"],
  ["openai-completions", "chat"],
]);

/** Reads a tree of entries as written by Diligent and pi; the path to the last entry is the conversation. */
export const readEntrySource: ReadSource = async (file, losses) => {
  const survey = await surveyEntries(file, losses);
  return { facts: survey.facts, records: entryRecords(file, survey, losses) };
};

async function* entryRecords(
  file: SourceFile,
  { onPath, keepings }: EntrySurvey,
  losses: Losses,
): AsyncGenerator<SourceRecord> {
  const kept = new KeptItemBuffer(keepings);
  const reading = new EntryReading(losses, (position) => kept.take(position));
  let position = -1;
  // The survey has already counted damaged lines.
  for await (const { value } of sourceLines(file)) {
    if (!isEntry(value)) continue;
    position += 1;
    if (onPath[position] !== true) {
      losses.count("abandoned_entries");
      continue;
    }
    const found = reading.recordsOf(value, position);
    kept.note(
      position,
      found.flatMap((record) => (record.type === "item" ? [record.item] : [])),
    );
    yield* found;
  }
}

class EntryReading {
  readonly #losses: Losses;
  readonly #keptItems: (position: number) => ResponseItem[];
  #provider: string | undefined;

  constructor(losses: Losses, keptItems: (position: number) => ResponseItem[]) {
    this.#losses = losses;
    this.#keptItems = keptItems;
  }

  recordsOf(entry: LineObject, position: number): SourceRecord[] {
    const timestamp = isoTime(entry["timestamp"]);
    const itemRecords = (items: readonly ResponseItem[], by?: AnsweredBy): SourceRecord[] =>
      items.map((item) => ({ type: "item", timestamp, item, ...(by === undefined ? {} : { by }) }));
    switch (entry.type) {
      case "message": {
        const message = fieldsOf(entry["message"]);
        const by = this.#by(message);
        return itemRecords(entryItems({ provider: this.#provider, ...message }, this.#losses), by);
      }
      case "compaction":
        return this.#replaced(entry, timestamp, position);
      case "model_change": {
        this.#provider = textOf(entry["provider"]);
        return [{ type: "played_by", by: { provider: this.#provider, model: nonBlankText(entry["modelId"]) } }];
      }
      case "branch_summary":
        return itemRecords(branchSummaryItems(entry["summary"], this.#losses));
      case "custom_message":
        return itemRecords(injectedItems(entry["content"], this.#losses));
      case "session_info": {
        const name = nonBlankText(entry["name"]);
        return name === undefined ? [] : [{ type: "named", name }];
      }
      default:
        return this.#other(entry);
    }
  }

  #by({ role, provider, model }: Fields): AnsweredBy | undefined {
    if (role !== "assistant" || nonBlankText(model) === undefined) return undefined;
    this.#provider = nonBlankText(provider) ?? this.#provider;
    return { provider: this.#provider, model: nonBlankText(model) };
  }

  #replaced(entry: LineObject, timestamp: string, position: number): SourceRecord[] {
    const summary = textOf(entry["summary"]);
    const kept = this.#keptItems(position);
    if (summary === undefined) {
      this.#losses.count("unknown_lines");
      return [];
    }
    const items = [summaryItem(`[Session Summary]\n${summary}${filesText(entry)}`), ...kept];
    return [{ type: "replaced", timestamp, summary, items }];
  }

  #other(entry: LineObject): SourceRecord[] {
    if ("payload" in entry) return codexRecords(entry, this.#losses);
    if (entry.type === "thinking_level_change") this.#losses.count("settings");
    else if (entry.type === "label") this.#losses.count("labels");
    else if (entry.type === "custom") this.#losses.count("extension_data");
    else this.#losses.count("unknown_lines");
    return [];
  }
}

/** Converts the message of an entry written by Diligent or any version of pi. */
function entryItems(message: Fields, losses: Losses): ResponseItem[] {
  switch (message["role"]) {
    case "user":
      return messageOf("user", inputParts(message["content"], losses));
    case "assistant":
      return assistantItems(message, losses);
    case "tool_result":
    case "toolResult":
      return resultItems(message, losses);
    case "bashExecution":
      if (message["excludeFromContext"] !== true) return [shellCommand(message)];
      losses.count("excluded");
      return [];
    case "custom":
    case "hookMessage":
      return injectedItems(message["content"], losses);
    case "branchSummary":
    case "compactionSummary":
      return branchSummaryItems(message["summary"], losses);
    default:
      losses.count("unknown_parts");
      return [];
  }
}

/** Converts text that an extension injected for the model. */
function injectedItems(content: unknown, losses: Losses): ResponseItem[] {
  const parts = inputParts(content, losses);
  const texts = parts.flatMap((part) => ("text" in part ? [part.text] : []));
  losses.count("images", parts.length - texts.length);
  return texts.map(developerMessage);
}

function branchSummaryItems(summary: unknown, losses: Losses): ResponseItem[] {
  const text = nonBlankText(summary);
  if (text !== undefined) return [developerMessage(`[Summary of another branch]\n${text}`)];
  losses.count("unknown_parts");
  return [];
}

function assistantItems(message: Fields, losses: Losses): ResponseItem[] {
  if (message["usage"] !== undefined) losses.count("usage");
  if (nonBlankText(message["errorMessage"]) !== undefined) losses.count("errors");
  const blocks = blocksOf(message["content"]);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => {
    const item = blockItem(fieldsOf(block), message, losses);
    if (item === undefined) losses.count("unknown_parts");
    return item ?? [];
  });
}

function blockItem(block: Fields, message: Fields, losses: Losses): ResponseItem | ResponseItem[] | undefined {
  const { type, text, id, name } = block;
  if (type === "text" && typeof text === "string") return text === "" ? [] : messageItem("assistant", text);
  if (type === "thinking") return reasoningOf(block, message, losses);
  if ((type !== "tool_call" && type !== "toolCall") || typeof id !== "string" || typeof name !== "string") {
    return undefined;
  }
  return callItem(callId(id), name, block["arguments"] ?? block["input"]);
}

function resultItems(message: Fields, losses: Losses): ResponseItem[] {
  const { toolCallId, content, output } = message;
  if (typeof toolCallId !== "string") {
    losses.count("unknown_parts");
    return [];
  }
  if (message["details"] !== undefined) losses.count("tool_details");
  if (message["isError"] === true) losses.count("error_marks");
  if (content === undefined) return [callOutputItem(callId(toolCallId), output)];
  return [outputOf(callId(toolCallId), inputParts(content, losses))];
}

/** Converts content from the user or a tool. */
function inputParts(content: unknown, losses: Losses): ContentPart[] {
  const blocks = blocksOf(content);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => {
    const { type, text, data, mimeType } = fieldsOf(block);
    if (type === "text" && typeof text === "string") return text === "" ? [] : [textPart("user", text)];
    const image = type === "image" ? imagePart(mimeType, data) : undefined;
    if (image === undefined) losses.count(type === "image" ? "images" : "unknown_parts");
    return image === undefined ? [] : [image];
  });
}

/** Removes the item id that pi appends to the call id with the Responses API. */
function callId(id: string): string {
  const [call] = id.split("|");
  return textOf(call) || id;
}

/** Result of a first pass through a tree; entries are identified by their position in the file. */
interface EntrySurvey {
  readonly facts: SourceFacts;
  readonly onPath: readonly boolean[];
  readonly keepings: readonly KeptRange[];
}

interface Compaction {
  readonly at: number;
  readonly firstKept: unknown;
}

async function surveyEntries(file: SourceFile, losses: Losses): Promise<EntrySurvey> {
  const lineage = new EntryPath();
  const compactions: Compaction[] = [];
  const facts: { -readonly [K in keyof SourceFacts]: SourceFacts[K] } = {};
  for await (const { number, value } of sourceLines(file, losses)) {
    noteFacts(facts, value);
    if (!isEntry(value)) continue;
    if (lineage.full) throw new ImportError(file.path, "it has too many entries");
    if (value.type === "compaction") {
      compactions.push({
        at: lineage.length,
        firstKept: value["firstKeptEntryId"] ?? firstKeptIndex(value["firstKeptEntryIndex"]),
      });
    }
    lineage.add({ id: textOf(value["id"]) ?? `line ${number}`, parent: parentOf(value) });
  }
  const onPath = lineage.path();
  return { facts, onPath, keepings: compactions.flatMap((compaction) => keptRange(compaction, lineage, onPath)) };
}

/** Whether a line is an entry. Excludes the header and the Codex lines that cody adds when it continues such a file. */
function isEntry(value: LineObject): boolean {
  return value.type !== "session" && value.type !== "session_meta";
}

/** Entries without a parent, as in the first version and in Codex lines, follow the entry before them (undefined). */
function parentOf(value: LineObject): string | null | undefined {
  const parent = value["parentId"];
  return parent === null && "id" in value ? null : textOf(parent);
}

/** Converts an index of pi's first version, which counts the header as entry 0. */
function firstKeptIndex(index: unknown): number | undefined {
  return typeof index === "number" && Number.isSafeInteger(index) && index > 0 ? index - 1 : undefined;
}

function keptRange({ at, firstKept }: Compaction, lineage: EntryPath, onPath: readonly boolean[]): KeptRange[] {
  const from = typeof firstKept === "string" ? lineage.positionOf(firstKept) : firstKept;
  if (typeof from !== "number" || from >= at || onPath[from] !== true) return [];
  return [{ at, from, keeps: (position) => onPath[position] === true }];
}

function noteFacts(facts: { -readonly [K in keyof SourceFacts]: SourceFacts[K] }, value: LineObject): void {
  if (value.type === "session") {
    facts.id ??= textOf(value["id"]);
    facts.createdAt ??= textOf(value["timestamp"]);
    facts.cwd ??= nonBlankText(value["cwd"]);
  }
  const message = fieldsOf(value["message"]);
  const named = isRecord(value["message"]) && message["role"] === "assistant" ? message : value;
  const model = nonBlankText(named["model"]) ?? nonBlankText(named["modelId"]);
  if (facts.model !== undefined || model === undefined) return;
  facts.model = model;
  facts.provider ??= nonBlankText(named["provider"]);
}

/**
 * Converts a thinking block. Content that only its model can read is kept only if that model and its API are known,
 * because it must not be sent to any other.
 */
function reasoningOf(block: Fields, message: Fields, losses: Losses): ResponseItem | ResponseItem[] {
  const { thinking, signature, thinkingSignature } = block;
  const text = textOf(thinking) ?? "";
  const encrypted = nonBlankText(thinkingSignature) ?? nonBlankText(signature);
  // Diligent does not record the API, but uses only one for Anthropic.
  const api = apis.get(message["api"] ?? (message["provider"] === "anthropic" ? "anthropic-messages" : undefined));
  const model = nonBlankText(message["model"]);
  const origin = api === undefined || model === undefined ? undefined : { api, model };
  if (origin?.api === "responses" && encrypted !== undefined) {
    const whole = wholeItem(encrypted);
    if (whole !== undefined) return { ...whole, origin };
  }
  // With Chat Completions pi stores the name of the source field there instead of a signature.
  if (origin?.api === "chat") return text === "" ? [] : { ...reasoningItem(text, undefined), origin };
  if (encrypted !== undefined && origin?.api !== "messages") losses.count("signatures");
  if (encrypted !== undefined && origin?.api === "messages")
    return encryptedReasoning(block, { text, sealed: encrypted, origin });
  return text === "" ? [] : reasoningItem(text, undefined);
}

function encryptedReasoning(
  block: Fields,
  { text, sealed, origin }: { text: string; sealed: string; origin: ItemOrigin },
): ResponseItem {
  if (block["redacted"] === true) return { type: "reasoning", summary: [], encrypted_content: sealed, origin };
  return { ...reasoningItem(text, sealed), origin };
}

/** Parses the item that pi stores as a whole with the Responses API. */
function wholeItem(text: string): ReasoningItem | undefined {
  try {
    return ReasoningItem.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
