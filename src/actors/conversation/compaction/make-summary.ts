import type { CompactionPlan } from "../../../compaction/strategy.js";
import type { CompactionOutcome } from "../../../messages/compaction-report.js";
import type { SummarySource } from "../../../messages/compaction.js";
import type { SummaryOutcome } from "../../compactor/summarizer.js";
import type { CompactionWish } from "./compaction-request.js";
import { type Planning, summaryRequest } from "./plan-compaction.js";
import type { TurnWorld } from "../turn/play-turn.js";

export type MadeSummary =
  | {
      readonly status: "made";
      readonly text: string;
      readonly source: SummarySource;
      readonly truncatedCount: number;
      readonly usage: Extract<SummaryOutcome, { status: "done" }>["usage"];
    }
  | Extract<CompactionOutcome, { status: "kept" | "aborted" }>;

/** The text that stands for what is compacted away: a model's, or what can be had without one. */
export async function makeSummary(
  world: TurnWorld,
  wish: CompactionWish,
  planning: Planning,
  signal: AbortSignal,
): Promise<MadeSummary> {
  const { plan } = planning;
  const extracted = { status: "made", source: "extracted", usage: undefined } as const;
  if (!plan.needsSummary) return { ...extracted, text: "", truncatedCount: 0 };
  const outcome = wish.prepared?.outcome ?? (await askForSummary(world, wish, planning, signal));
  if (outcome.status === "aborted") return outcome;
  const { truncatedCount } = outcome;
  if (outcome.status === "done") {
    const { text, usage } = outcome;
    if (truncatedCount > 0) {
      warn(world, wish, `Trimmed ${truncatedCount} older item(s) before compacting to fit context window`);
    }
    if (text !== "") return { status: "made", source: "model", text, truncatedCount, usage };
    return { ...extracted, text: await extract(world, plan), truncatedCount, usage };
  }
  if (wish.isUrgent || world.parts.compaction.settings.onFailure === "placeholder") {
    return { ...extracted, text: await extract(world, plan), truncatedCount };
  }
  const reason = outcome.status === "failed" ? `${compressionFailed}: ${outcome.failure.message}` : tooLarge;
  return warned(world, wish, reason);
}

const compressionFailed = "Compression failed, conversation may hit limits soon";
const tooLarge = "Cannot compact: history too large even after truncation. Start a new conversation: cody new";

/** A compactor that fails is no reason to fail: the history is what it was. */
async function askForSummary(
  world: TurnWorld,
  wish: CompactionWish,
  planning: Planning,
  signal: AbortSignal,
): Promise<SummaryOutcome> {
  const { compaction } = world.parts;
  const request = summaryRequest(world, planning.strategy, planning.plan, wish);
  const by = compaction.summaryBy(wish.summarizer ?? wish.settings);
  try {
    return await compaction.compactor.ask({ type: "summarize", by, request }, signal);
  } catch (error) {
    if (signal.aborted) return { status: "aborted" };
    const message = error instanceof Error ? error.message : String(error);
    return { status: "failed", failure: { code: "actor_failed", message, retryable: false }, truncatedCount: 0 };
  }
}

async function extract({ parts }: TurnWorld, { toSummarize, previousSummary }: CompactionPlan): Promise<string> {
  return await parts.compaction.compactor.ask({ type: "extract", items: toSummarize, previousSummary });
}

/** Says why the history stays as it is. */
export function warned(
  world: TurnWorld,
  wish: CompactionWish,
  reason: string,
): Extract<CompactionOutcome, { status: "kept" }> {
  warn(world, wish, reason);
  return { status: "kept", reason };
}

function warn({ publish }: TurnWorld, { submissionId }: CompactionWish, message: string): void {
  publish({ type: "warning", message }, submissionId);
}
