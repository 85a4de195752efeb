import type { CompactionOutcome } from "../../../messages/compaction-report.js";
import { needsCompaction } from "../../../compaction/needs-compaction.js";
import type { PlainItem } from "../../../messages/codex-parts.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import { type InlineInput, inputText } from "../../../messages/user-input.js";
import type { Conversation } from "../handle.js";

/** What a turn runs with, as far as compacting asks for it. */
export interface CompactContext {
  /** Without it the history is compacted however long it is. */
  readonly modelContextWindow?: number;
  readonly countTokens?: (text: string) => number;
}

/** Compacts a conversation that needs it, under the seed documents' name; `input` is what the summary should mind. */
export async function runCompactTask(
  session: Conversation,
  { modelContextWindow, countTokens }: CompactContext = {},
  input: readonly InlineInput[] = [],
): Promise<CompactionOutcome> {
  const history = session.getHistory();
  if (modelContextWindow !== undefined && !needsCompaction(history, modelContextWindow, countTokens)) {
    return { status: "kept", reason: "the history is below the threshold" };
  }
  const instructions = inputText(input).trim();
  return await session.compact(instructions === "" ? {} : { instructions });
}

/** The summary a conversation's own model makes of some items, or of the whole history. Nothing is changed or written. */
export async function getSummary(
  session: Conversation,
  _context: CompactContext = {},
  history: readonly (ResponseItem | PlainItem)[] = session.getHistory(),
): Promise<string> {
  return await session.summarize(history);
}
