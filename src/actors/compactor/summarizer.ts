import { extractSummary } from "../../compaction/extract-summary.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { Provider } from "../../providers/provider.js";
import type { SummaryTarget } from "../../workers/io-jobs.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import { ioPoolLimits, type IoPool } from "../../workers/open-io-pool.js";
import { summarizeInThread } from "../../workers/summarize-in-thread.js";
import { summarize, type SummaryOutcome, type SummaryRequest } from "../../workers/summarize.js";

export type { SummaryOutcome, SummaryRequest };

/** Who summarizes: what a thread can reach, or a provider that was injected and lives in this one. */
export type SummaryBy = SummaryTarget | { readonly kind: "provider"; readonly provider: Provider };

/** Where summaries are made. */
export class Summarizer {
  readonly #cpu: CpuPool;
  readonly #io: IoPool;

  constructor(cpu: CpuPool, io: IoPool) {
    this.#cpu = cpu;
    this.#io = io;
  }

  /** Asks a model. Never throws, and takes no longer in this thread than in another: what happens is an outcome. */
  async summarize(by: SummaryBy, request: SummaryRequest, signal: AbortSignal): Promise<SummaryOutcome> {
    if (by.kind !== "provider") return await summarizeInThread(this.#io, by, request, signal);
    const deadlineMs = ioPoolLimits.deadlineMs.summarize;
    const until = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const outcome = await summarize(by.provider, request, { signal: until });
    if (outcome.status !== "aborted" || signal.aborted) return outcome;
    const message = `the summary took longer than ${deadlineMs / 1000} s`;
    return { status: "failed", failure: { code: "deadline", message, retryable: false }, truncatedCount: 0 };
  }

  /** Takes what can be taken from a history without a model. */
  async extract(items: readonly ResponseItem[], previousSummary: string | undefined): Promise<string> {
    const outcome = await this.#cpu.run("extract_summary", { items, previousSummary });
    // What no thread can do is done here: it is the last resort.
    return outcome.ok ? outcome.value.text : extractSummary(items, previousSummary);
  }
}
