import type { CompactionNotes, CompactionTrigger, SummarySource } from "../../../messages/compaction.js";
import { messageText, type ResponseItem } from "../../../messages/response-item.js";
import { noTokens, type TokenUsage } from "../../../messages/token-usage.js";
import { usageInfo } from "../turn/usage-info.js";
import type { ConversationContext } from "../turn/turn-world.js";

export interface CompactionResult {
  readonly trigger: CompactionTrigger;
  readonly strategy: string;
  readonly source: SummarySource;
  readonly items: readonly ResponseItem[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly truncatedCount: number;
  readonly files: { readonly readFiles: readonly string[]; readonly modifiedFiles: readonly string[] };
  /** The token usage of the summary. */
  readonly usage?: TokenUsage | undefined;
}

/**
 * A single line replaces the history, so a crash leaves the old or the new one; the lines after it only add details.
 */
export function recordCompaction(
  { parts, cell, recording }: ConversationContext,
  result: CompactionResult,
  id: string,
): void {
  const { items, tokensBefore, tokensAfter, files } = result;
  const notes: CompactionNotes = {
    trigger: result.trigger,
    strategy: result.strategy,
    source: result.source,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    items_before: cell.state.history.length,
    items_after: items.length,
    truncated_count: result.truncatedCount,
    read_files: [...files.readFiles],
    modified_files: [...files.modifiedFiles],
  };
  const message = items.flatMap((item) =>
    item.type === "message" && item.summary === true ? [messageText(item)] : [],
  );
  recording.line(
    { type: "compacted", payload: { message: message.at(-1) ?? "", replacement_history: [...items], cody: notes } },
    id,
  );
  const used = usageInfo(cell.state.usage, result.usage ?? noTokens, parts.price(cell.settings));
  const info = { ...used, last_token_usage: { ...noTokens, total_tokens: tokensAfter } };
  recording.line({ type: "event_msg", payload: { type: "token_count", info } }, id);
  recording.line(
    {
      type: "event_msg",
      payload: { type: "context_compacted", old_token_count: tokensBefore, new_token_count: tokensAfter },
    },
    id,
  );
}
