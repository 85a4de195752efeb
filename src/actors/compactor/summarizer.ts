import { extractSummary } from "../../compaction/extract-summary.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { Provider } from "../../providers/provider.js";
import type { SummaryTarget } from "../../workers/io-jobs.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import type { IoPool } from "../../workers/open-io-pool.js";
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

  /** Asks a model. Never throws: whatever happens to the job is an outcome. */
  async summarize(by: SummaryBy, request: SummaryRequest, signal: AbortSignal): Promise<SummaryOutcome> {
    if (by.kind === "provider") return await summarize(by.provider, request, { signal });
    const outcome = await this.#io.run("summarize", { target: by, request }, { signal });
    if (outcome.ok) return outcome.value;
    if (signal.aborted) return { status: "aborted" };
    return { status: "failed", failure: outcome.failure, truncatedCount: 0 };
  }

  /** Takes what can be taken from a history without a model. */
  async extract(items: readonly ResponseItem[], previousSummary: string | undefined): Promise<string> {
    const outcome = await this.#cpu.run("extract_summary", { items, previousSummary });
    // What no thread can do is done here: it is the last resort.
    return outcome.ok ? outcome.value.text : extractSummary(items, previousSummary);
  }
}
