import { labelledSummary } from "../../../base/codex/codex-summary.js";
import { isRecord } from "../../../base/is-record.js";
import { CompactionNotes } from "../../../messages/compaction.js";
import { ResponseItem, withCodexParts } from "../../../messages/response-item.js";
import type { LineObject } from "../../file/lines.js";
import { linesOfTurn, type TurnMetadata } from "../../turns.js";
import { EntryReader } from "../diligent/lines.js";
import { messageItems } from "../envoy/items.js";
import { type LineFormat, detectLineFormat, isoTime, lineFacts } from "./detect-format.js";
import { type ConvertedLines, itemLine, metaLine } from "./converted-items.js";

const knownItem = ResponseItem.options[0];

/** Reads the lines of a file that are not in Codex's format, without changing the file. */
export class ForeignLineReader {
  readonly #conversationId: string;
  readonly #entries = new EntryReader();
  #lines = 0;

  constructor(conversationId: string) {
    this.#conversationId = conversationId;
  }

  /** Converts a line to Codex's lines; undefined for one that is in Codex's format already. */
  linesOf(value: LineObject): ConvertedLines | undefined {
    const form = detectLineFormat(value);
    if (form === undefined) return undefined;
    this.#lines += 1;
    const translated = this.#convert(form, value);
    return this.#lines === 1 ? { ...translated, lines: [this.#firstLine(value), ...translated.lines] } : translated;
  }

  #convert(form: LineFormat, value: LineObject): ConvertedLines {
    if (form === "turn") return turnLines(value, `${this.#conversationId}-${this.#lines}`);
    if (form === "entry") return this.#entries.linesOf(value);
    const { message, messageType } = value;
    if (messageType === "session-meta") return { lines: [], whole: true };
    if (messageType !== "conversation" || !isRecord(message)) return { lines: [], whole: false };
    const { items, whole } = messageItems(message);
    const timestamp = isoTime(value["timestamp"]);
    return { lines: items.map((item) => itemLine(timestamp, item)), whole };
  }

  #firstLine(value: LineObject): ConvertedLines["lines"][number] {
    const { createdAt = "", provider, model, cwd = "/", commit } = lineFacts(value);
    return metaLine({
      conversationId: this.#conversationId,
      timestamp: createdAt,
      cwd,
      metadata: { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) },
      ...(commit === undefined ? {} : { git: { commit_hash: commit } }),
    });
  }
}

/** Converts a line with a whole turn, or with the summary of the turns before it. */
export function turnLines(value: LineObject, turnId: string): ConvertedLines {
  const { items, summary } = value;
  const timestamp = isoTime(value["timestamp"]);
  if (!Array.isArray(items)) {
    const message = labelledSummary(String(summary));
    return { lines: [{ timestamp, type: "compacted", payload: { message } }], whole: true };
  }
  const known = items.map(withCodexParts).filter((item): item is ResponseItem => knownItem.safeParse(item).success);
  const whole = known.length === items.length;
  const metadata = turnMetadata(value);
  if (known.length === 0 && metadata.replaces !== true) return { lines: [], whole };
  const turn = { timestamp: Date.parse(timestamp), items: known, metadata };
  return { lines: linesOfTurn(turn, turn.timestamp, turnId), whole };
}

/** Reads the provider, model and other metadata of a turn. */
export function turnMetadata(value: LineObject): TurnMetadata {
  const { provider, model, tokens, replaces, compaction } = isRecord(value["metadata"]) ? value["metadata"] : {};
  const notes = CompactionNotes.safeParse(compaction);
  return {
    ...(typeof provider === "string" ? { provider } : {}),
    ...(typeof model === "string" ? { model } : {}),
    ...(typeof tokens === "number" ? { tokens } : {}),
    ...(replaces === true ? { replaces } : {}),
    ...(notes.success ? { compaction: notes.data } : {}),
  };
}
