import { labelledSummary } from "../../../base/codex/codex-summary.js";
import { CompactionNotes } from "../../../messages/compaction.js";
import { isRecord } from "../../../base/is-record.js";
import { ResponseItem, withCodexParts } from "../../../messages/response-item.js";
import type { LineObject } from "../../file/line-object.js";
import { linesOfTurn, type TurnMetadata } from "../../turns.js";
import type { ConvertedLines } from "../lines/form-lines.js";
import { isoTime } from "../lines/detect.js";

const knownItem = ResponseItem.options[0];

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
