import { errorMessage } from "../../base/error-message.js";
import type { RetryPolicy } from "../../base/time/retry.js";
import { orAborted } from "../../base/time/waiting.js";
import {
  type ExactPart,
  type PlanFacts,
  type PlanInput,
  previewOf,
  ContextSize,
} from "../../compaction/plan-compaction.js";
import { strategyFor } from "../../compaction/strategy-for.js";
import type { CompactionStrategy, StrategySettings } from "../../compaction/strategy.js";
import { type SummaryParts, summaryRequest } from "../../compaction/summary/request-summary.js";
import { encodingOf } from "../../compaction/tokens/estimate-tokens.js";
import type { TokenEstimates } from "../../compaction/tokens/token-estimates.js";
import type {
  CompactionResult,
  CompactorAnswers,
  CompactorEvent,
  CompactorOp,
  ContextFacts,
  ModelTarget,
  SummaryOptions,
  SummaryOutcome,
} from "../../messages/actors/compactor.js";
import type { KnownFacts } from "../../messages/model.js";
import type { CpuJobs } from "../../workers/cpu-pool.js";
import type { IoPool } from "../../workers/io-pool.js";
import type { Pool } from "../../workers/pool.js";
import type { RequestGate } from "../limits/limits.js";
import type { Actor } from "../runtime/actor.js";
import { HistoryWork } from "./history-work.js";
import { Summarizer, type SummaryProvider } from "./summarizer.js";

const compressionFailed = "Compression failed, conversation may hit limits soon";

const tooLarge = "Cannot compact: history too large even after truncation. Start a new conversation: cody new";

const notShorter = "The summary is not shorter than the conversation, so the history was kept";

/** The dependencies that messages cannot carry: pools, injected functions, and the way to a provider and its credential. */
export interface CompactorOptions {
  readonly cpu: Pick<Pool<CpuJobs>, "run" | "prepare">;
  readonly io: IoPool;
  readonly gate: RequestGate;
  readonly retry?: RetryPolicy | undefined;
  /** Estimates of items in this thread. With an injected tokenizer they are exact, and the pool does not count. */
  readonly estimates: TokenEstimates;
  /** The built-in and injected strategies, by name. */
  readonly strategies: ReadonlyMap<string, CompactionStrategy>;
  readonly settings: CompactorSettings;
  provider(target: ModelTarget): SummaryProvider | Promise<SummaryProvider>;
  /** Known facts about a model. */
  facts(model: string): KnownFacts | undefined;
}

interface CompactorSettings extends StrategySettings {
  readonly strategy?: string | undefined;
  readonly onFailure: "keep" | "placeholder";
  readonly prompt?: string | undefined;
}

type HistoryOp = Extract<CompactorOp, { history: unknown }>;
type OpOf<T extends CompactorOp["type"]> = Extract<CompactorOp, { type: T }>;

/** One generation of a conversation's history. */
interface TrackedHistory {
  readonly conversationId: string;
  readonly generation: number;
  /** Exact token counts by place, for each encoding. */
  readonly counts: Map<string, (number | undefined)[]>;
  /** The end of the running count: counts of one history run one after the other, so that no item is counted twice. */
  counting: Promise<void>;
  preparation: Preparation | undefined;
}

/** A summary of the items before `cut`, made ahead of time. */
interface Preparation {
  readonly cut: number;
  readonly ending: AbortController;
  readonly outcome: Promise<SummaryOutcome>;
  /** Empty until there is one. */
  text: string;
}

/**
 * Counts tokens and makes compactions, from the plan to the new history; conversations decide when, and apply the
 * result. The work itself runs in the pools, or in this thread where an injected function takes part.
 */
export const compactor: Actor<CompactorOp, CompactorAnswers, CompactorOptions, CompactorEvent> = {
  name: "compactor",
  start: (options, { publish }) => {
    const { settings, strategies, estimates } = options;
    const summarizer = new Summarizer(options.io, options.gate, options.retry);
    const histories = new Map<string, TrackedHistory>();

    /** Returns the state of the op's generation. That of an older one is not kept. */
    function track({ conversationId, generation }: HistoryOp): TrackedHistory {
      const known = histories.get(conversationId);
      if (known?.generation === generation) return known;
      const created = {
        conversationId,
        generation,
        counts: new Map<string, number[]>(),
        counting: Promise.resolve(),
        preparation: undefined,
      };
      if (known !== undefined && known.generation > generation) return created;
      known?.preparation?.ending.abort();
      histories.set(conversationId, created);
      return created;
    }

    function isCurrent(history: TrackedHistory): boolean {
      return histories.get(history.conversationId) === history;
    }

    function forget(conversationId: string): void {
      histories.get(conversationId)?.preparation?.ending.abort();
      histories.delete(conversationId);
    }

    function strategyOf({ context }: HistoryOp, requested?: string): CompactionStrategy {
      const name = requested ?? settings.strategy;
      const strategy = strategyFor(context.model, name, strategies);
      if (strategy === undefined) throw new Error(`unknown compaction strategy ${name}`);
      return strategy;
    }

    function workOn(op: HistoryOp, strategy: CompactionStrategy): HistoryWork {
      return new HistoryWork(op, strategy, { ...options, summarizer });
    }

    function countsOf(history: TrackedHistory, model: string): (number | undefined)[] {
      const key = estimates.isInjected ? "tokenizer" : encodingOf(model);
      const counts = history.counts.get(key) ?? [];
      history.counts.set(key, counts);
      return counts;
    }

    /** Counts the items from a place on that have no count; items that cannot be counted keep their estimate. */
    async function countExactly(
      op: HistoryOp,
      history: TrackedHistory,
      work: HistoryWork,
      from: number,
    ): Promise<void> {
      const counts = countsOf(history, op.context.model);
      const counting = history.counting.then(() => work.addCounts(counts, from));
      history.counting = counting.catch(() => undefined);
      await counting;
      publishCount(op.context, history, counts, work.length);
    }

    function publishCount(
      { model, ratio, overhead, reported }: ContextFacts,
      history: TrackedHistory,
      counts: readonly (number | undefined)[],
      items: number,
    ): void {
      const from = Math.min(reported?.items ?? 0, items);
      const known = counts.slice(from, items).filter((tokens) => tokens !== undefined);
      if (known.length < items - from || !isCurrent(history)) return;
      const { conversationId, generation } = history;
      const added = known.reduce((sum, tokens) => sum + tokens, 0);
      const tokens = known.reduce((sum, each) => sum + Math.ceil(each * ratio), reported?.tokens ?? overhead);
      publish({ type: "counted", conversationId, generation, model, from, items, added, tokens });
    }

    /** Plans a compaction with exact counts where these parts depend on them, and remembers the counts. */
    async function planExactly(
      op: HistoryOp,
      work: HistoryWork,
      exact: readonly ExactPart[],
      choice: Pick<PlanInput, "isUrgent" | "cut">,
    ): Promise<{ plan: PlanFacts; input: Parameters<HistoryWork["plan"]>[0] }> {
      const history = track(op);
      const known = countsOf(history, op.context.model);
      const planning = history.counting.then(async () => {
        const input = { ...choice, context: op.context, settings, counts: [...known] };
        const plan = await work.plan(input, exact);
        for (const [place, tokens] of input.counts.entries()) known[place] ??= tokens;
        return { plan, input };
      });
      history.counting = planning.then(
        () => undefined,
        () => undefined,
      );
      const planned = await planning;
      publishCount(op.context, history, known, work.length);
      return planned;
    }

    /** Counts the whole history, and returns the counts. */
    async function countAll(op: HistoryOp, work: HistoryWork): Promise<(number | undefined)[]> {
      const history = track(op);
      await countExactly(op, history, work, 0);
      return [...countsOf(history, op.context.model)];
    }

    function summaryParts(conversationId: string, summary: SummaryOptions): SummaryParts {
      const { model } = summary.target;
      return { conversationId, options: summary, facts: options.facts(model), prompt: settings.prompt };
    }

    async function prepare(op: OpOf<"prepare">): Promise<CompactorAnswers["prepare"]> {
      const history = track(op);
      const work = workOn(op, strategyOf(op));
      const input = { context: op.context, settings, counts: [...countsOf(history, op.context.model)] };
      const plan = await work.plan(input, []);
      const earlier = history.preparation?.text === "" ? undefined : history.preparation;
      if (!isCurrent(history) || !plan.needsSummary || plan.cut <= (earlier?.cut ?? 0)) return null;
      history.preparation?.ending.abort();
      const ending = new AbortController();
      const outcome = work
        .summarize(input, {
          target: op.summary.target,
          parts: summaryParts(op.conversationId, op.summary),
          // Only the items since the earlier summary are summarized, as its continuation.
          continues: earlier && { from: earlier.cut, summary: earlier.text },
          signal: ending.signal,
        })
        .catch(failedOutcome);
      history.preparation = { cut: plan.cut, ending, outcome, text: "" };
      void settlePreparation(history, history.preparation);
      return { strategy: plan.strategy, cut: plan.cut, tokens: plan.tokensBefore };
    }

    async function settlePreparation(history: TrackedHistory, preparation: Preparation): Promise<void> {
      const outcome = await preparation.outcome;
      if (!isCurrent(history) || history.preparation !== preparation) return;
      const { conversationId, generation } = history;
      const { cut } = preparation;
      if (outcome.status === "done" && outcome.text !== "") {
        preparation.text = outcome.text;
        publish({ type: "prepared", conversationId, generation, cut });
        return;
      }
      history.preparation = undefined;
      const reason = outcome.status === "failed" ? outcome.failure.message : outcome.status;
      publish({ type: "compaction_failed", conversationId, generation, cut, reason });
    }

    async function compact(op: OpOf<"summarize">, signal: AbortSignal): Promise<CompactionResult> {
      const work = workOn(op, strategyOf(op, op.strategy));
      const prepared = op.usesPrepared ? await preparedSummary(track(op), signal) : undefined;
      const failed = new AbortController();
      const asking = AbortSignal.any([signal, failed.signal]);
      const early = prepared === undefined && work.summarizesFirst ? earlySummary(op, work, asking) : undefined;
      // Its failure is handled when it is awaited, which it is not if planning fails.
      early?.catch(() => undefined);
      const planning = planExactly(op, work, ["result"], { isUrgent: op.isUrgent, cut: prepared?.cut });
      const { plan, input } = await planning.catch((error: unknown) => {
        failed.abort();
        throw error;
      });
      if (plan.cut === 0) return { status: "kept", reason: "nothing to compact yet", warnings: [] };
      const outcome = prepared?.outcome ?? (await early) ?? (await summaryOf(op, work, plan, input, signal));
      if (outcome.status === "aborted" || signal.aborted) return { status: "aborted" };
      const warnings = trimWarnings(outcome);
      if (outcome.status !== "done" && !op.isUrgent && settings.onFailure !== "placeholder") {
        const reason = outcome.status === "failed" ? `${compressionFailed}: ${outcome.failure.message}` : tooLarge;
        return { status: "kept", reason, warnings: [...warnings, reason] };
      }
      const summary = outcome.status === "done" ? outcome.text : "";
      const isExtracted = plan.needsSummary && summary === "";
      const built = await work.build(input, isExtracted ? undefined : summary, op.files);
      // A summary as long as the history would be paid for again and again.
      if (op.trigger === "auto" && built.tokensAfter >= built.tokensBefore) {
        return { status: "kept", reason: notShorter, warnings: [...warnings, notShorter] };
      }
      const source = summary === "" ? "extracted" : "model";
      const { truncatedCount } = outcome;
      const usage = outcome.status === "done" ? outcome.usage : undefined;
      return { status: "compacted", ...built, source, truncatedCount, usage, warnings };
    }

    async function preparedSummary(
      { preparation }: TrackedHistory,
      signal: AbortSignal,
    ): Promise<{ cut: number; outcome: SummaryOutcome } | undefined> {
      const outcome = preparation && (await orAborted(preparation.outcome, signal));
      if (preparation === undefined || outcome?.status !== "done" || outcome.text === "") return undefined;
      return { cut: preparation.cut, outcome };
    }

    /** Requests a summary whose items no count can change. */
    async function earlySummary(
      op: OpOf<"summarize">,
      work: HistoryWork,
      signal: AbortSignal,
    ): Promise<SummaryOutcome | undefined> {
      const counts = [...countsOf(track(op), op.context.model)];
      const input = { context: op.context, settings, counts, isUrgent: op.isUrgent };
      const plan = await work.plan(input, []);
      return plan.cut === 0 ? undefined : await summaryOf(op, work, plan, input, signal);
    }

    async function summaryOf(
      op: OpOf<"summarize">,
      work: HistoryWork,
      { needsSummary }: PlanFacts,
      input: Parameters<HistoryWork["summarize"]>[0],
      signal: AbortSignal,
    ): Promise<SummaryOutcome> {
      if (!needsSummary) return { status: "done", text: "", truncatedCount: 0 };
      const parts = summaryParts(op.conversationId, op.summary);
      return await work.summarize(input, { target: op.summary.target, parts, continues: undefined, signal });
    }

    /** If a thread fails here, the job that needs it fails too, and reports it. */
    async function startThreads({ model, target }: OpOf<"start_threads">): Promise<void> {
      if (!estimates.isInjected) void options.cpu.prepare("load_encoding", { encoding: encodingOf(model) });
      summarizer.prepare(await options.provider(target));
    }

    return {
      // Not awaited, like the end of a preparation: no caller waits for it, and the mailbox is bounded.
      count: (op) => {
        const history = track(op);
        const counting = countExactly(op, history, workOn(op, strategyOf(op)), op.context.reported?.items ?? 0);
        void counting.catch(() => undefined);
      },
      usage: (op) =>
        orFailed(async () => {
          const work = workOn(op, strategyOf(op));
          const input = work.planInput({ context: op.context, settings, counts: await countAll(op, work) });
          const size = new ContextSize(await work.items(), input);
          return { status: "measured", tokens: size.active, items: size.items };
        }),
      plan: (op) =>
        orFailed(async () => {
          const work = workOn(op, strategyOf(op, op.strategy));
          const exact = op.isMeasured === true ? (["size"] as const) : [];
          const { plan } = await planExactly(op, work, exact, { isUrgent: op.isUrgent });
          return { status: "planned", ...plan };
        }),
      preview: (op) =>
        orFailed(async () => {
          const work = workOn(op, strategyOf(op, op.strategy));
          const counts = await countAll(op, work);
          const planned = await work.planned({ context: op.context, settings, counts });
          return { status: "planned", preview: previewOf(planned, op.context) };
        }),
      summarize: async (op, signal) => {
        try {
          return await compact(op, signal);
        } catch (error) {
          const reason = `${compressionFailed}: ${errorMessage(error)}`;
          return signal.aborted ? { status: "aborted" } : { status: "kept", reason, warnings: [reason] };
        }
      },
      summarize_items: async ({ conversationId, items, summary }, signal) => {
        const strategy = strategyFor(summary.target.model, settings.strategy, strategies) ?? { prompt: "" };
        const parts = summaryParts(conversationId, summary);
        const request = summaryRequest(strategy, { toSummarize: items, previousSummary: undefined }, parts);
        return await summarizer.summarize(await options.provider(summary.target), request, signal).catch(failedOutcome);
      },
      prepare: (op) => prepare(op).catch(() => null),
      start_threads: (op) => startThreads(op).catch(() => undefined),
      forget: ({ conversationId }) => forget(conversationId),
      [Symbol.asyncDispose]: async () => {
        for (const { conversationId, generation, preparation } of histories.values()) {
          forget(conversationId);
          if (preparation === undefined) continue;
          const { cut } = preparation;
          publish({ type: "compaction_failed", conversationId, generation, cut, reason: "the compactor has ended" });
        }
      },
    };
  },
};

/** A failing strategy, file or pool is the outcome of one request and must not end the actor of all conversations. */
async function orFailed<T>(work: () => Promise<T>): Promise<T | { status: "failed"; reason: string }> {
  try {
    return await work();
  } catch (error) {
    return { status: "failed", reason: errorMessage(error) };
  }
}

function failedOutcome(error: unknown): SummaryOutcome {
  const failure = { code: "internal", message: errorMessage(error), retryable: false } as const;
  return { status: "failed", failure, truncatedCount: 0 };
}

function trimWarnings(outcome: Exclude<SummaryOutcome, { status: "aborted" }>): string[] {
  const { status, truncatedCount } = outcome;
  if (status !== "done" || truncatedCount === 0) return [];
  return [`Trimmed ${truncatedCount} older item(s) before compacting to fit context window`];
}
