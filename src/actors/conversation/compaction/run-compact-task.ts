import type { CompactionOutcome } from "../../../messages/compaction.js";
import { needsCompaction } from "../../../compaction/tokens/compaction-threshold.js";
import type { ResponseItem, PlainItem } from "../../../messages/response-item.js";
import { type InlineInput, inputText } from "../../../messages/user-input.js";
import type { Conversation } from "../handle.js";

/** The part of a turn's context that compaction uses. */
export interface CompactContext {
  /** Without it the history is compacted regardless of its length. */
  readonly modelContextWindow?: number;
  readonly countTokens?: (text: string) => number;
}

/** Compacts a conversation that needs it, under the seed documents' name; `input` has instructions for the summary. */
export async function runCompactTask(
  session: Conversation,
  { modelContextWindow, countTokens }: CompactContext = {},
  input: readonly InlineInput[] = [],
): Promise<CompactionOutcome> {
  if (modelContextWindow !== undefined) {
    const isLong = needsCompaction(await session.readHistory(), modelContextWindow, countTokens);
    if (!isLong) return { status: "kept", reason: "the history is below the threshold" };
  }
  const instructions = inputText(input).trim();
  return await session.compact(instructions === "" ? {} : { instructions });
}

/**
 * Returns a summary of some items, or of the whole history, by the conversation's own model. Nothing is changed or
 * written.
 */
export async function getSummary(
  session: Conversation,
  _context: CompactContext = {},
  history?: readonly (ResponseItem | PlainItem)[],
): Promise<string> {
  return await session.summarize(history ?? (await session.readHistory()));
}
