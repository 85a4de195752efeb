import type { BuiltCompaction } from "../messages/actors/compactor.js";
import type { ResponseItem } from "../messages/response-item.js";
import type { PlannedCompaction } from "./plan-compaction.js";
import { extractFileOperations, formatFileOperations } from "./summary/file-operations.js";
import { missingFrom, mustKeep, repairedSummary } from "./summary/must-keep.js";

/**
 * Builds the new history from a plan and the text of its summary: facts that the summary must not lose and the lists of
 * files are added. `original` is the history as the conversation has it.
 */
export function buildCompaction(
  { strategy, plan, size, history }: PlannedCompaction,
  original: readonly ResponseItem[],
  text: string,
  knownFiles: BuiltCompaction["files"],
): BuiltCompaction {
  const { readFiles, modifiedFiles } = knownFiles;
  const known = { readFiles: [...readFiles], modifiedFiles: [...modifiedFiles] };
  const files = extractFileOperations(history.slice(0, plan.cut), known);
  const summary = repairedSummary(text, missingFrom(text, mustKeep(plan.toSummarize, plan.previousSummary)));
  const items = plan.build(summary + formatFileOperations(files));
  const places = new Map(original.map((item, place) => [item, place]));
  return {
    strategy: strategy.name,
    tokensBefore: size.active,
    tokensAfter: size.whole(items),
    summary,
    items: items.map((item) => places.get(item) ?? item),
    files,
  };
}

/** Returns the new history of a conversation. */
export function replacementItems({ items }: BuiltCompaction, history: readonly ResponseItem[]): ResponseItem[] {
  return items.flatMap((item) => (typeof item === "number" ? (history[item] ?? []) : item));
}
