import { COMPACT_TARGET } from "../../../compaction/constants.js";
import type { CompactionPlan } from "../../../compaction/strategy.js";
import { extractFileOperations, formatFileOperations } from "../../../compaction/summary/file-operations.js";
import { missingFrom, mustKeep, repairedSummary } from "../../../compaction/summary/must-keep.js";
import type {
  CompactionOutcome,
  SummarySource,
  CompactionNotes,
  CompactionTrigger,
} from "../../../messages/compaction.js";
import { type ResponseItem, messageText } from "../../../messages/response-item.js";
import { noTokens, type TokenUsage } from "../../../messages/token-usage.js";
import type { SummaryOutcome } from "../../compactor/compactor.js";
import { yieldFairly } from "../../runtime/scheduler.js";
import type { Settings } from "../state/settings.js";
import type { ConversationContext } from "../conversation-context.js";
import {
  type CompactionRequest,
  planCompaction,
  type PlannedCompaction,
  summaryRequest,
  ContextSize,
} from "./plan-compaction.js";
import { usageInfo } from "../turn/turn-budget.js";

const compressionFailed = "Compression failed, conversation may hit limits soon";

const tooLarge = "Cannot compact: history too large even after truncation. Start a new conversation: cody new";

/**
 * An estimate may be four times too low. If even four times the estimate is below every bound, exact counts are not
 * worth a tokenizer's memory.
 */
const worstEstimate = 4;

const shownChars = 200;

/**
 * Replaces the history with a shorter one, or keeps it. Every `compaction_start` it publishes is followed by a
 * `compaction_end`.
 */
export async function compactHistory(
  context: ConversationContext,
  request: CompactionRequest,
  signal: AbortSignal,
): Promise<CompactionOutcome> {
  await countWhereNeeded(context, request.settings, signal);
  // Planning for a megabyte takes milliseconds, and the counts of many histories may have finished together.
  await yieldFairly("begin");
  const cut = request.prepared?.cut;
  const planning = planCompaction(context, request.settings, { ...request, ...(cut === undefined ? {} : { cut }) });
  const tokensBefore = planning.size.active;
  context.publish(
    {
      type: "compaction_start",
      trigger: request.trigger,
      strategy: planning.strategy.name,
      estimated_tokens: tokensBefore,
    },
    request.submissionId,
  );
  const outcome = await tryToCompact(context, request, planning, signal);
  const [tokens_after, summary] =
    outcome.status === "compacted" ? [outcome.tokensAfter, shortened(outcome.summary)] : [tokensBefore, ""];
  context.publish(
    { type: "compaction_end", outcome: outcome.status, tokens_before: tokensBefore, tokens_after, summary },
    request.submissionId,
  );
  return outcome;
}

/** Counts items exactly where a plan depends on it; items that cannot be counted keep their estimate. */
async function countWhereNeeded(
  { parts, cell }: ConversationContext,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> {
  const { compactor } = parts.compaction;
  const { userMessageTokens, keepRecentTokens } = parts.compaction.settings;
  const target = parts.compaction.window(settings).tokens * COMPACT_TARGET;
  const smallest = Math.min(userMessageTokens, keepRecentTokens, target);
  const { history } = cell.state;
  if (new ContextSize(parts, cell, settings).sum(history, 0) * worstEstimate <= smallest) return;
  await compactor.ask({ type: "count", items: [...history], model: settings.model }, signal).catch(() => undefined);
}

async function tryToCompact(
  context: ConversationContext,
  request: CompactionRequest,
  planning: PlannedCompaction,
  signal: AbortSignal,
): Promise<CompactionOutcome> {
  const { plan, size, history } = planning;
  if (plan.cut === 0) return { status: "kept", reason: "nothing to compact yet" };
  const before = snapshot(context);
  const summary = await makeSummary(context, request, planning, signal);
  await yieldFairly("end");
  if (signal.aborted || summary.status === "aborted") return { status: "aborted" };
  if (summary.status === "kept") return summary;
  if (!isUnchanged(before, context)) return { status: "kept", reason: "the history changed while it was summarized" };
  const files = extractFileOperations(history.slice(0, plan.cut), filesOf(context));
  const repaired = repairedSummary(
    summary.text,
    missingFrom(summary.text, mustKeep(plan.toSummarize, plan.previousSummary)),
  );
  const items = plan.build(repaired + formatFileOperations(files));
  const [tokensBefore, tokensAfter] = [size.active, size.whole(items)];
  // Automatic compactions stop here; otherwise a summary as long as the history would be paid for again and again.
  if (request.trigger === "auto" && tokensAfter >= tokensBefore) {
    return keepWithWarning(
      context,
      request,
      "The summary is not shorter than the conversation, so the history was kept",
    );
  }
  const outcome = {
    status: "compacted" as const,
    strategy: planning.strategy.name,
    tokensBefore,
    tokensAfter,
    summary: repaired,
    source: summary.source,
    truncatedCount: summary.truncatedCount,
  };
  recordCompaction(
    context,
    { ...outcome, trigger: request.trigger, items, files, usage: summary.usage },
    request.submissionId,
  );
  return outcome;
}

function filesOf({ cell }: ConversationContext): { readFiles: string[]; modifiedFiles: string[] } {
  const { read_files = [], modified_files = [] } = cell.state.compaction ?? {};
  return { readFiles: read_files, modifiedFiles: modified_files };
}

/** No turn adds items while a summary is made, but a caller may replace the history. */
function snapshot({ cell: { state } }: ConversationContext): readonly [length: number, last: ResponseItem | undefined] {
  return [state.history.length, state.history.at(-1)];
}

function isUnchanged([length, last]: ReturnType<typeof snapshot>, { cell: { state } }: ConversationContext): boolean {
  return state.history.length === length && state.history.at(-1) === last;
}

function shortened(summary: string): string {
  return summary.length > shownChars ? `${summary.slice(0, shownChars)}...` : summary;
}

type MadeSummary =
  | {
      readonly status: "made";
      readonly text: string;
      readonly source: SummarySource;
      readonly truncatedCount: number;
      readonly usage: Extract<SummaryOutcome, { status: "done" }>["usage"];
    }
  | Extract<CompactionOutcome, { status: "kept" | "aborted" }>;

/** Makes the summary text: a model's, or one extracted without a model. */
async function makeSummary(
  context: ConversationContext,
  request: CompactionRequest,
  planning: PlannedCompaction,
  signal: AbortSignal,
): Promise<MadeSummary> {
  const { plan } = planning;
  const extracted = { status: "made", source: "extracted", usage: undefined } as const;
  if (!plan.needsSummary) return { ...extracted, text: "", truncatedCount: 0 };
  const outcome = request.prepared?.outcome ?? (await askForSummary(context, request, planning, signal));
  if (outcome.status === "aborted") return outcome;
  const { truncatedCount } = outcome;
  if (outcome.status === "done") {
    const { text, usage } = outcome;
    if (truncatedCount > 0) {
      warn(context, request, `Trimmed ${truncatedCount} older item(s) before compacting to fit context window`);
    }
    if (text !== "") return { status: "made", source: "model", text, truncatedCount, usage };
    return { ...extracted, text: await extract(context, plan), truncatedCount, usage };
  }
  if (request.isUrgent || context.parts.compaction.settings.onFailure === "placeholder") {
    return { ...extracted, text: await extract(context, plan), truncatedCount };
  }
  const reason = outcome.status === "failed" ? `${compressionFailed}: ${outcome.failure.message}` : tooLarge;
  return keepWithWarning(context, request, reason);
}

/** A failing compactor is reported as an outcome, because the history is unchanged. */
async function askForSummary(
  context: ConversationContext,
  request: CompactionRequest,
  planning: PlannedCompaction,
  signal: AbortSignal,
): Promise<SummaryOutcome> {
  const { compaction } = context.parts;
  const body = summaryRequest(context, planning.strategy, planning.plan, request);
  const summarizer = compaction.summaryBy(request.summarizer ?? request.settings);
  try {
    return await compaction.compactor.ask({ type: "summarize", by: summarizer, request: body }, signal);
  } catch (error) {
    if (signal.aborted) return { status: "aborted" };
    const message = error instanceof Error ? error.message : String(error);
    return { status: "failed", failure: { code: "actor_failed", message, retryable: false }, truncatedCount: 0 };
  }
}

async function extract(
  { parts }: ConversationContext,
  { toSummarize, previousSummary }: CompactionPlan,
): Promise<string> {
  return await parts.compaction.compactor.ask({ type: "extract", items: toSummarize, previousSummary });
}

/** Publishes a warning with the reason why the history is kept. */
function keepWithWarning(
  context: ConversationContext,
  request: CompactionRequest,
  reason: string,
): Extract<CompactionOutcome, { status: "kept" }> {
  warn(context, request, reason);
  return { status: "kept", reason };
}

function warn({ publish }: ConversationContext, { submissionId }: CompactionRequest, message: string): void {
  publish({ type: "warning", message }, submissionId);
}

interface CompactionResult {
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
