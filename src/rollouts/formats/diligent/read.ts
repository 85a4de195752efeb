import type { ResponseItem } from "../../../messages/response-item.js";
import { filesText } from "./files-text.js";
import { isoTime } from "../lines/detect.js";
import type { LineObject } from "../../file/line-object.js";
import { codexRecords } from "../codex/records.js";
import { entryItems, summaryTold, toldItems } from "./import-items.js";
import { type EntrySurvey, isEntry, surveyEntries } from "./survey.js";
import { type Fields, fieldsOf, saidText, textOf } from "../import/fields.js";
import { KeptItems } from "../import/kept-items.js";
import type { Losses } from "../import/losses.js";
import { summaryItem } from "../import/parts.js";
import { sourceLines } from "../import/source-file.js";
import type { PlayedBy, ReadSource, SourceFile, SourceRecord } from "../import/source.js";

/** Entries of a tree, as Diligent and pi write them: what leads to the last one is the conversation. */
export const readEntrySource: ReadSource = async (file, losses) => {
  const survey = await surveyEntries(file, losses);
  return { facts: survey.facts, records: entryRecords(file, survey, losses) };
};

async function* entryRecords(
  file: SourceFile,
  { onPath, keepings }: EntrySurvey,
  losses: Losses,
): AsyncGenerator<SourceRecord> {
  const kept = new KeptItems(keepings);
  const reading = new EntryReading(losses, (position) => kept.take(position));
  let position = -1;
  // What is damaged was noted the first time.
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
  readonly #kept: (position: number) => ResponseItem[];
  #provider: string | undefined;

  constructor(losses: Losses, kept: (position: number) => ResponseItem[]) {
    this.#losses = losses;
    this.#kept = kept;
  }

  recordsOf(entry: LineObject, position: number): SourceRecord[] {
    const timestamp = isoTime(entry["timestamp"]);
    const itemRecords = (items: readonly ResponseItem[], by?: PlayedBy): SourceRecord[] =>
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
        return [{ type: "played_by", by: { provider: this.#provider, model: saidText(entry["modelId"]) } }];
      }
      case "branch_summary":
        return itemRecords(summaryTold(entry["summary"], this.#losses));
      case "custom_message":
        return itemRecords(toldItems(entry["content"], this.#losses));
      case "session_info": {
        const name = saidText(entry["name"]);
        return name === undefined ? [] : [{ type: "named", name }];
      }
      default:
        return this.#other(entry);
    }
  }

  #by({ role, provider, model }: Fields): PlayedBy | undefined {
    if (role !== "assistant" || saidText(model) === undefined) return undefined;
    this.#provider = saidText(provider) ?? this.#provider;
    return { provider: this.#provider, model: saidText(model) };
  }

  #replaced(entry: LineObject, timestamp: string, position: number): SourceRecord[] {
    const summary = textOf(entry["summary"]);
    const kept = this.#kept(position);
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
