import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fieldsOf, textOf } from "../../../base/is-record.js";
import { ImportError } from "../../../base/errors.js";
import type { ResponseItem, ContentPart, ItemOrigin } from "../../../messages/response-item.js";
import type { LineObject } from "../../file/lines.js";
import { KeptItemBuffer } from "../import/entry-path.js";
import { type Losses, sourceLines, type ReadSource, type SourceFile, type SourceRecord } from "../import/source.js";
import {
  type Fields,
  nonBlankText,
  messageOf,
  summaryItem,
  textPart,
  developerMessage,
  blocksOf,
  imagePart,
  outputOf,
} from "../import/parts.js";
import { isoTime } from "../lines/detect-format.js";
import { callItem, messageItem, reasoningItem } from "../lines/converted-items.js";
import { type ClaudeSurvey, isEntry, surveyClaude, isBoundary, isSynthetic } from "./survey.js";

/** Matches a slash command typed by the user, in Claude Code's markup. */
const commandName = /^\s*(?:<command-message>[^<]*<\/command-message>\s*)?<command-name>([^<]*)<\/command-name>/;

const commandArgs = /<command-args>([^]*?)<\/command-args>/;

const localOutput = /^\s*(?:<local-command-(?:stdout|stderr|caveat)>|Caveat: The messages below were generated)/;

const lostEntries: ReadonlyMap<string, "attachments" | "system_notes"> = new Map([
  ["attachment", "attachments"],
  ["progress", "system_notes"],
]);

/** Bookkeeping lines of Claude Code, which contain nothing of the conversation. */
const bookkeeping = new Set([
  "agent-color",
  "agent-name",
  "agent-setting",
  "ai-title",
  "bridge-session",
  "custom-title",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "summary",
  "tag",
  "worktree-state",
]);

/** Reads a session of Claude Code: one line per part of a message, each naming its predecessor. */
export const readClaudeSource: ReadSource = async (file, losses) => {
  const survey = await surveyClaude(file, losses);
  losses.count("subagent_files", await subagentFiles(file));
  return { facts: survey.facts, records: conversationRecords(file, survey, losses) };
};

async function* conversationRecords(
  file: SourceFile,
  survey: ClaudeSurvey,
  losses: Losses,
): AsyncGenerator<SourceRecord> {
  const keptBuffer = new KeptItemBuffer(survey.keepings);
  const reading = new ClaudeTranscript(losses, survey.lastOf, (position) => keptBuffer.take(position));
  const seen = new Set<string>();
  let sidechains = 0;
  let position = -1;
  for await (const { value } of sourceLines(file)) {
    if (!isEntry(value)) {
      if (value["isSidechain"] === true) sidechains += 1;
      countSkipped(value, losses);
      continue;
    }
    position += 1;
    const { uuid } = value;
    const isCopy = typeof uuid === "string" && seen.has(uuid);
    if (typeof uuid === "string") seen.add(uuid);
    if (isCopy || survey.belongs[position] !== true) {
      losses.count(isCopy ? "duplicates" : "abandoned_entries");
      continue;
    }
    const found = reading.recordsOf(value, position);
    keptBuffer.note(position, itemsIn(found));
    yield* found;
  }
  yield* reading.end();
  if (position === -1 && sidechains > 0)
    throw new ImportError(file.path, "it only contains the messages of a sub-agent");
  if (survey.name !== undefined) yield { type: "named", name: survey.name };
}

function itemsIn(records: readonly SourceRecord[]): ResponseItem[] {
  return records.flatMap((record) => (record.type === "item" ? [record.item] : []));
}

function countSkipped(value: LineObject, losses: Losses): void {
  if (value["isSidechain"] === true) losses.count("sidechain_entries");
  else if (value.type === "file-history-snapshot") losses.count("file_snapshots");
  else if (!bookkeeping.has(value.type)) losses.count("unknown_lines");
}

/** Counts the files in which newer versions store the work of sub-agents. */
async function subagentFiles({ path }: SourceFile): Promise<number> {
  const folder = join(path.replace(/\.jsonl$/, ""), "subagents");
  const names = path.endsWith(".jsonl") ? await readdir(folder).catch(() => []) : [];
  return names.filter((name) => name.endsWith(".jsonl")).length;
}

type ItemRecord = Extract<SourceRecord, { type: "item" }>;

/** Converts the entries of the conversation in order. */
class ClaudeTranscript {
  readonly #losses: Losses;
  readonly #lastOf: ReadonlyMap<string, number>;
  readonly #kept: (position: number) => ResponseItem[];
  /** Items kept by a compaction, until its summary arrives. */
  #keptItems: ResponseItem[] = [];
  /** A command that is held back until it is known whether the model saw it. */
  #command: ItemRecord | undefined;
  /** Results that arrived before the end of the model message they belong to, which ends at `#messageEnd`. */
  #early: ItemRecord[] = [];
  #messageEnd = -1;

  constructor(losses: Losses, lastOf: ReadonlyMap<string, number>, keptItems: (position: number) => ResponseItem[]) {
    this.#losses = losses;
    this.#lastOf = lastOf;
    this.#kept = keptItems;
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

  /** Returns the records still held back. */
  end(): SourceRecord[] {
    return [...this.#endCommand(false), ...this.#early.splice(0)];
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
      const before = this.#endCommand(false);
      const args = commandArgs.exec(text)?.[1]?.trim() ?? "";
      const [item] = messageOf("user", [textPart("user", `${command} ${args}`.trim())]);
      if (item !== undefined) this.#command = { type: "item", timestamp, item };
      return before;
    }
    const items = userItems(content, this.#losses);
    const isMeta = entry["isMeta"] === true;
    const records = (isMeta ? items.flatMap(markInjected) : items).map((item): ItemRecord => ({
      type: "item",
      timestamp,
      item,
    }));
    const outputs = records.filter(({ item }) => item.type === "function_call_output");
    if (position >= this.#messageEnd || outputs.length < records.length) {
      return [...this.#endCommand(isMeta), ...this.#early.splice(0), ...records];
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
    this.#messageEnd = Math.max(this.#messageEnd, last);
    // Every line of the message repeats the usage, so only the last one counts.
    if (message["usage"] !== undefined && position >= last) this.#losses.count("usage");
    const by = { provider: "anthropic", model: nonBlankText(message["model"]) };
    const records = modelItems(message, this.#losses).map((item): ItemRecord => ({
      type: "item",
      timestamp,
      item,
      by,
    }));
    const early = position >= this.#messageEnd ? this.#early.splice(0) : [];
    return [...this.#endCommand(true), ...records, ...early];
  }

  #replaced(content: unknown, timestamp: string): SourceRecord[] {
    const summary = textOf(content) ?? textsOf(userItems(content, this.#losses));
    const items = [summaryItem(summary), ...this.#keptItems];
    this.#keptItems = [];
    return [...this.end(), { type: "replaced", timestamp, summary, items }];
  }

  /** Keeps a command that the model saw as a message; any other command only acted inside Claude Code. */
  #endCommand(wasSent: boolean): SourceRecord[] {
    const command = this.#command;
    this.#command = undefined;
    if (command === undefined) return [];
    if (wasSent) return [command];
    this.#losses.count("local_commands");
    return [];
  }
}

/** Marks text that Claude Code injected on the user's behalf; images stay as they are. */
function markInjected(item: ResponseItem): ResponseItem[] {
  if (item.type !== "message") return [item];
  const text = textsOf([item]);
  return text === "" ? [item] : [developerMessage(text)];
}

function textsOf(items: readonly ResponseItem[]): string {
  return items
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .flatMap((part) => ("text" in part ? [part.text] : []))
    .join("\n");
}

/** Converts one line of a model message. */
function modelItems(message: Fields, losses: Losses): ResponseItem[] {
  const model = textOf(message["model"]);
  const origin: ItemOrigin | undefined = model === undefined ? undefined : { api: "messages", model };
  const blocks = blocksOf(message["content"]);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => modelBlock(fieldsOf(block), origin, losses));
}

function modelBlock(block: Fields, origin: ItemOrigin | undefined, losses: Losses): ResponseItem[] {
  const { type, text, thinking, data, signature, id, name } = block;
  if (type === "text" && typeof text === "string") return text === "" ? [] : [messageItem("assistant", text)];
  if (type === "tool_use" && typeof id === "string" && typeof name === "string") {
    return [callItem(id, name, block["input"])];
  }
  if (type === "thinking" && typeof thinking === "string") {
    if (textOf(signature) === undefined || origin === undefined)
      return thinking === "" ? [] : [reasoningItem(thinking, undefined)];
    return [{ ...reasoningItem(thinking, signature), origin }];
  }
  if (type === "redacted_thinking" && typeof data === "string" && origin !== undefined) {
    return [{ type: "reasoning", summary: [], encrypted_content: data, origin }];
  }
  // Tools run by the provider, and their results.
  const isServers = typeof type === "string" && (type === "server_tool_use" || /^\w+_tool_result$/.test(type));
  losses.count(isServers ? "server_tools" : "unknown_parts");
  return [];
}

/** Converts a user line: outputs of calls first, then the user's message. */
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
    if (image === undefined) losses.count(lossKind(type));
    return image ?? [];
  });
}

function lossKind(type: unknown): "images" | "documents" | "unknown_parts" {
  if (type === "image") return "images";
  return type === "document" ? "documents" : "unknown_parts";
}

function imageOf({ type, media_type: mediaType, data, url }: Fields): ContentPart | undefined {
  if (type === "url" && typeof url === "string") return { type: "input_image", image_url: url };
  return type === "base64" ? imagePart(mediaType, data) : undefined;
}
