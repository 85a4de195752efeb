import { isRecord } from "../../../base/is-record.js";
import type { LineObject } from "../../file/line-object.js";
import { EntryReader } from "../diligent/lines.js";
import { lineFacts } from "./form-facts.js";
import { type ConvertedLines, itemLine, metaLine } from "./form-lines.js";
import { type LineFormat, detectLineFormat, isoTime } from "./detect.js";
import { messageItems } from "../envoy/items.js";
import { turnLines } from "../turns/lines.js";

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
    const said = this.#translated(form, value);
    return this.#lines === 1 ? { ...said, lines: [this.#firstLine(value), ...said.lines] } : said;
  }

  #translated(form: LineFormat, value: LineObject): ConvertedLines {
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
