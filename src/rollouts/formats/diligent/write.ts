import { isCodexSummary } from "../../../base/codex/codex-summary.js";
import { messageText, type ResponseItem, itemText } from "../../../messages/response-item.js";
import type { Compacted, OwnLine } from "../../../messages/rollout-line.js";
import { estimatedTokens } from "../../../base/text/truncate.js";
import { applyToHistory } from "../../file/history.js";
import { EntryWriter } from "./entry-writer.js";
import type { WriterInput } from "../export/writing.js";

/** Writes a tree of entries with the complete conversation, its compactions and its rollbacks. */
export async function* writeDiligent({ survey, batches, leave }: WriterInput): AsyncGenerator<string> {
  const entries = new EntryWriter(survey, leave);
  const history: ResponseItem[] = [];
  yield* entries.begin();
  for await (const batch of batches) {
    for (const line of batch) yield* linesOf(entries, history, line);
  }
  yield* entries.end(survey.lastUpdated);
}

function* linesOf(entries: EntryWriter, history: ResponseItem[], line: OwnLine): Generator<string> {
  const { timestamp } = line;
  const before = line.type === "compacted" ? [...history] : [];
  const length = history.length;
  applyToHistory(history, line);
  switch (line.type) {
    case "response_item":
      if (history.length > length) yield* entries.item(line.payload, timestamp);
      return;
    case "turn_context":
      yield* entries.model(line.payload, timestamp);
      return;
    case "compacted":
      yield* compacted(entries, { before, after: history, compacted: line.payload, timestamp });
      return;
    case "cody":
      if (line.payload.type === "history_replaced") yield* entries.restart(history, timestamp);
      return;
    case "event_msg":
      if (line.payload.type === "thread_rolled_back") yield* entries.goBack(history, timestamp);
      return;
    case "session_meta":
      return;
  }
}

interface Change {
  readonly before: readonly ResponseItem[];
  readonly after: readonly ResponseItem[];
  readonly compacted: Compacted;
  readonly timestamp: string;
}

/**
 * Writes the summary first and then the kept items, as the format requires. A compaction without a summary starts a
 * new tree.
 */
function* compacted(entries: EntryWriter, { before, after, compacted: record, timestamp }: Change): Generator<string> {
  const at = summaryAt(after, record);
  const summary = after[at];
  if (summary?.type !== "message") {
    yield* entries.restart(after, timestamp);
    return;
  }
  const { cody } = record;
  yield* entries.compaction({
    summary: messageText(summary),
    summaryItem: summary,
    before,
    kept: after.toSpliced(at, 1),
    after,
    tokensBefore: cody?.tokens_before ?? tokensIn(before),
    tokensAfter: cody?.tokens_after ?? tokensIn(after),
    ...(cody === undefined ? {} : { details: { readFiles: cody.read_files, modifiedFiles: cody.modified_files } }),
    timestamp,
  });
}

/** Finds the summary: cody's has a flag, Codex's is the last item with the text of the record. */
function summaryAt(items: readonly ResponseItem[], { message }: Compacted): number {
  const own = items.findIndex((item) => item.type === "message" && item.summary === true);
  if (own !== -1) return own;
  return items.findLastIndex((item) => {
    if (item.type !== "message" || item.role !== "user") return false;
    const text = messageText(item);
    return (message !== "" && text === message) || isCodexSummary(text);
  });
}

function tokensIn(items: readonly ResponseItem[]): number {
  return estimatedTokens(items.map(itemText).join(""));
}
