import { buildCompaction } from "../compaction/build-compaction.js";
import {
  type PlanInput,
  type ExactPart,
  type PlannedCompaction,
  planCompaction,
  planExactly,
  type PlanFacts,
  planFacts,
  needsExactCounts,
  summaryRequestOf,
} from "../compaction/plan-compaction.js";
import { strategies } from "../compaction/strategy-for.js";
import type { CompactionStrategy } from "../compaction/strategy.js";
import { extractSummary } from "../compaction/summary/extract-summary.js";
import type { Continuation, SummaryParts, SummaryRequest } from "../compaction/summary/request-summary.js";
import {
  countedItem,
  type Encoding,
  encodingOf,
  estimateTokens,
  imageTokens,
} from "../compaction/tokens/estimate-tokens.js";
import { exactTokens } from "../compaction/tokens/exact-tokens.js";
import { itemTokens } from "../compaction/tokens/token-estimates.js";
import type { BuiltCompaction, RolloutSource } from "../messages/actors/compactor.js";
import type { ResponseItem } from "../messages/response-item.js";
import { readHistory } from "../rollouts/file/read-history.js";

/** A history in a rollout. The thread reads it, so that its megabytes do not pass through the main thread. */
export interface StoredHistory {
  readonly conversationId: string;
  readonly source: RolloutSource;
}

/** A plan for a history in a rollout, with a built-in strategy. */
export interface StoredPlan extends StoredHistory {
  readonly strategy: string;
  readonly input: Omit<PlanInput, "estimate">;
}

export interface StoredSummary extends StoredPlan {
  readonly parts: SummaryParts;
  readonly continues?: Continuation | undefined;
}

export interface StoredBuild extends StoredPlan {
  /** The text of the summary; without it, a summary is extracted from the history. */
  readonly text: string | undefined;
  readonly files: BuiltCompaction["files"];
}

/** Counts the items from a place on. */
export async function countStored(
  job: StoredHistory & { readonly encoding: Encoding; readonly from: number },
): Promise<number[]> {
  return await countItems((await itemsOf(job)).slice(job.from), job.encoding);
}

/** A plan in brief, and the token counts that are known after it. */
export interface StoredPlanFacts {
  readonly facts: PlanFacts;
  readonly counts: readonly (number | undefined)[];
}

/** Plans a compaction, and counts the items on which the exact parts depend. */
export async function planStored(job: StoredPlan & { readonly exact: readonly ExactPart[] }): Promise<StoredPlanFacts> {
  const items = await itemsOf(job);
  const counts = [...job.input.counts];
  const { context, settings } = job.input;
  if (job.exact.length === 0 || !needsExactCounts(items, { context, settings, estimate: estimateItem })) {
    return { facts: planFacts(planOf(items, job)), counts };
  }
  const input = { ...job.input, counts, estimate: estimateItem };
  const planned = await planExactly(items, builtIn(job.strategy), input, job.exact, async (places) => {
    const added = await countItems(
      places.flatMap((place) => items[place] ?? []),
      encodingOf(context.model),
    );
    for (const [index, place] of places.entries()) counts[place] = added[index];
    return true;
  });
  return { facts: planFacts(planned), counts };
}

/** Builds the request for a summary. */
export async function storedSummaryRequest(job: StoredSummary): Promise<SummaryRequest> {
  return summaryRequestOf(planOf(await itemsOf(job), job), job.parts, job.continues);
}

export async function buildStored(job: StoredBuild): Promise<BuiltCompaction> {
  const items = await itemsOf(job);
  const planned = planOf(items, job);
  const text = job.text ?? extractSummary(planned.plan.toSummarize, planned.plan.previousSummary);
  return buildCompaction(planned, items, text, job.files);
}

function itemsOf({ conversationId, source }: StoredHistory): Promise<ResponseItem[]> {
  return readHistory(conversationId, source);
}

async function countItems(items: readonly ResponseItem[], encoding: Encoding): Promise<number[]> {
  const counted = items.map(countedItem);
  const counts = await exactTokens(
    counted.map(({ text }) => text),
    encoding,
  );
  return counted.map(({ images }, index) => (counts[index] ?? 0) + images * imageTokens);
}

function planOf(items: readonly ResponseItem[], { strategy, input }: StoredPlan): PlannedCompaction {
  return planCompaction(items, builtIn(strategy), { ...input, estimate: estimateItem });
}

function estimateItem(item: ResponseItem): number {
  return itemTokens(item, estimateTokens);
}

function builtIn(name: string): CompactionStrategy {
  const strategy = strategies.get(name);
  if (strategy === undefined) throw new Error(`unknown compaction strategy ${name}`);
  return strategy;
}
