import { buildCompaction } from "../../compaction/build-compaction.js";
import {
  needsExactCounts,
  planCompaction,
  type ExactPart,
  planExactly,
  type PlanFacts,
  planFacts,
  type PlanInput,
  type PlannedCompaction,
  summaryRequestOf,
} from "../../compaction/plan-compaction.js";
import { strategies as builtIn } from "../../compaction/strategy-for.js";
import type { CompactionStrategy, StrategySettings } from "../../compaction/strategy.js";
import { extractSummary } from "../../compaction/summary/extract-summary.js";
import type { Continuation, SummaryParts } from "../../compaction/summary/request-summary.js";
import { countedItem, encodingOf, imageTokens } from "../../compaction/tokens/estimate-tokens.js";
import { TokenEstimates } from "../../compaction/tokens/token-estimates.js";
import type {
  BuiltCompaction,
  ContextFacts,
  HistorySource,
  ModelTarget,
  SummaryOutcome,
} from "../../messages/actors/compactor.js";
import { FailureError } from "../../messages/failure-error.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { readHistory } from "../../rollouts/file/read-history.js";
import { countTokens, type CpuJobs, type CpuPool } from "../../workers/cpu-pool.js";
import type { StoredHistory, StoredPlan } from "../../workers/history-jobs.js";
import { yieldFairly, yieldToLoop } from "../runtime/scheduler.js";
import type { Summarizer, SummaryProvider } from "./summarizer.js";

interface HistoryParts {
  readonly cpu: CpuPool;
  readonly summarizer: Summarizer;
  readonly estimates: TokenEstimates;
  readonly settings: StrategySettings;
  provider(target: ModelTarget): SummaryProvider | Promise<SummaryProvider>;
}

interface HistoryRequest {
  readonly conversationId: string;
  readonly history: HistorySource;
  readonly context: ContextFacts;
}

/** The inputs of a plan; its counts are added to. */
interface PlanData extends Omit<PlanInput, "estimate" | "countNew" | "counts"> {
  readonly counts: (number | undefined)[];
}

interface SummaryWork {
  readonly target: ModelTarget;
  readonly parts: SummaryParts;
  readonly continues: Continuation | undefined;
  readonly signal: AbortSignal;
}

/**
 * The steps of a compaction of one history. A history in a rollout is read and processed by jobs, unless an injected
 * tokenizer or strategy needs it in this thread; one in a message is planned here, because it is here already.
 */
export class HistoryWork {
  readonly #request: HistoryRequest;
  readonly #strategy: CompactionStrategy;
  readonly #parts: HistoryParts;
  #items: Promise<readonly ResponseItem[]> | undefined;
  #lastPlan: { readonly input: PlanData; readonly planned: PlannedCompaction } | undefined;

  constructor(request: HistoryRequest, strategy: CompactionStrategy, parts: HistoryParts) {
    this.#request = request;
    this.#strategy = strategy;
    this.#parts = parts;
  }

  /** The items in this thread; a rollout is read for it. */
  items(): Promise<readonly ResponseItem[]> {
    const { conversationId, history } = this.#request;
    this.#items ??= history.kind === "items" ? Promise.resolve(history.items) : readHistory(conversationId, history);
    return this.#items;
  }

  /** Whether a summary can be requested before the items are counted. */
  get summarizesFirst(): boolean {
    return this.#strategy.isCutFixed === true && this.#stored === undefined;
  }

  /** The number of items. */
  get length(): number {
    const { history } = this.#request;
    return history.kind === "items" ? history.items.length : history.length;
  }

  /** Fills in the missing counts from a place on. */
  async addCounts(counts: (number | undefined)[], from: number): Promise<void> {
    const stored = this.#stored;
    if (stored !== undefined) {
      const first = firstMissing(counts, from);
      if (first >= stored.source.length) return;
      const outcome = await this.#parts.cpu.run("count_history", {
        ...stored,
        encoding: encodingOf(this.#request.context.model),
        from: first,
      });
      if (outcome.ok) for (const [index, tokens] of outcome.value.entries()) counts[first + index] = tokens;
      return;
    }
    const items = await this.items();
    const missing = [...items.keys()].filter((place) => place >= from && counts[place] === undefined);
    await this.#countPlaces(items, missing, counts);
  }

  /** Returns false if they cannot be counted. */
  async #countPlaces(
    items: readonly ResponseItem[],
    places: readonly number[],
    counts: (number | undefined)[],
  ): Promise<boolean> {
    const { estimates, cpu } = this.#parts;
    if (estimates.isInjected) {
      for (const place of places) {
        // An injected tokenizer may need a millisecond for a page of text.
        await yieldFairly("begin");
        const item = items[place];
        if (item !== undefined) counts[place] = estimates.of(item);
      }
      return true;
    }
    if (places.length === 0) return true;
    const counted = places.flatMap((place) => (items[place] === undefined ? [] : countedItem(items[place])));
    const texts = counted.map(({ text }) => text);
    const outcome = await countTokens(cpu, texts, this.#request.context.model);
    if (!outcome.ok) return false;
    for (const [index, place] of places.entries()) {
      counts[place] = (outcome.value[index] ?? 0) + (counted[index]?.images ?? 0) * imageTokens;
    }
    return true;
  }

  /** Plans a compaction and adds the counts on which the exact parts depend to the input's. */
  async plan(input: PlanData, exact: readonly ExactPart[]): Promise<PlanFacts> {
    const stored = this.#storedPlan(input);
    if (stored !== undefined) {
      const { facts, counts } = await this.#run("plan_compaction", { ...stored, exact });
      for (const [place, tokens] of counts.entries()) input.counts[place] = tokens;
      return facts;
    }
    const items = await this.items();
    // The messages that led here were handled without a turn of the event loop.
    await yieldToLoop("begin");
    const { estimates, settings } = this.#parts;
    const { context } = this.#request;
    const isRough = !estimates.isInjected && !needsExactCounts(items, { context, settings, estimate: estimates.of });
    const parts: readonly ExactPart[] = estimates.isInjected ? ["size", "result"] : isRough ? [] : exact;
    if (parts.length > 0 && this.#lastPlan?.input !== input) {
      await yieldToLoop("begin");
      const planned = await planExactly(items, this.#strategy, this.planInput(input), parts, (places) =>
        this.#countPlaces(items, places, input.counts),
      );
      this.#lastPlan = { input, planned };
    }
    return planFacts(await this.planned(input));
  }

  async planned(input: PlanData): Promise<PlannedCompaction> {
    if (this.#lastPlan?.input === input) return this.#lastPlan.planned;
    const items = await this.items();
    // Planning for a megabyte takes milliseconds, and the counts of many histories may have finished together.
    await yieldToLoop("begin");
    const planned = planCompaction(items, this.#strategy, this.planInput(input));
    this.#lastPlan = { input, planned };
    return planned;
  }

  planInput(input: PlanData): PlanInput {
    const { estimates } = this.#parts;
    // An injected tokenizer counts an item of the history only when its exact count is asked for.
    return estimates.isInjected
      ? { ...input, estimate: roughEstimates.of, countNew: estimates.of }
      : { ...input, estimate: estimates.of };
  }

  /** Asks the model for a summary. */
  async summarize(input: PlanData, { target, parts, continues, signal }: SummaryWork): Promise<SummaryOutcome> {
    const stored = this.#storedPlan(input);
    const request =
      stored === undefined
        ? summaryRequestOf(await this.planned(input), parts, continues)
        : { ...stored, parts, continues };
    // Packing megabytes for a thread takes milliseconds too.
    await yieldToLoop("continue");
    return await this.#parts.summarizer.summarize(await this.#parts.provider(target), request, signal);
  }

  /** Builds the new history; without a text, a summary is extracted from the items. */
  async build(input: PlanData, text: string | undefined, files: BuiltCompaction["files"]): Promise<BuiltCompaction> {
    const stored = this.#storedPlan(input);
    if (stored !== undefined) return await this.#run("build_compaction", { ...stored, text, files });
    const planned = await this.planned(input);
    const summary = text ?? (await this.#extract(planned));
    await yieldToLoop("end");
    return buildCompaction(planned, await this.items(), summary, files);
  }

  async #extract({ plan: { toSummarize: items, previousSummary } }: PlannedCompaction): Promise<string> {
    const outcome = await this.#parts.cpu.run("extract_summary", { items, previousSummary });
    // If the worker thread fails, extract in this thread, because this is the last resort.
    return outcome.ok ? outcome.value.text : extractSummary(items, previousSummary);
  }

  /** The history for a job; undefined if this thread has it, or needs it. */
  get #stored(): StoredHistory | undefined {
    const { conversationId, history } = this.#request;
    const isInjected = this.#parts.estimates.isInjected || builtIn.get(this.#strategy.name) !== this.#strategy;
    return history.kind === "items" || isInjected ? undefined : { conversationId, source: history };
  }

  #storedPlan(input: PlanData): StoredPlan | undefined {
    const stored = this.#stored;
    return stored && { ...stored, strategy: this.#strategy.name, input };
  }

  async #run<Job extends "plan_compaction" | "build_compaction">(
    job: Job,
    input: CpuJobs[Job]["input"],
  ): Promise<CpuJobs[Job]["output"]> {
    const outcome = await this.#parts.cpu.run(job, input);
    if (!outcome.ok) throw new FailureError(outcome.failure);
    return outcome.value;
  }
}

const roughEstimates = new TokenEstimates();

function firstMissing(counts: readonly (number | undefined)[], from: number): number {
  let place = from;
  while (counts[place] !== undefined) place += 1;
  return place;
}
