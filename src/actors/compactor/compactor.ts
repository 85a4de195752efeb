import { defaultRetry, type RetryPolicy } from "../../base/time/retry.js";
import { extractSummary } from "../../compaction/summary/extract-summary.js";
import { countedItem, estimateItemTokens, estimateTokens } from "../../compaction/tokens/estimate-tokens.js";
import { FailureError } from "../../messages/failure-error.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { Access, Credential } from "../../providers/credential.js";
import type { Provider } from "../../providers/provider.js";
import { countTokens, type CpuPool } from "../../workers/cpu-pool.js";
import { type SummaryTarget, ioPoolLimits, type IoPool, summarizeInThread } from "../../workers/io-pool.js";
import { summarize, type SummaryOutcome, type SummaryRequest } from "../../workers/summarize.js";
import type { RequestGate } from "../limits/limits.js";
import type { Actor } from "../runtime/actor.js";
import type { TokenCounts } from "./token-counts.js";

/** Counts tokens, summarizes, and keeps summaries made ahead of time. The pools do all of its work. */
export const compactor: Actor<CompactorOp, CompactorAnswers, CompactorOptions> = {
  name: "compactor",
  start: ({ cpu, summarizer, counts }) => {
    const preparations = new Map<string, Preparation>();

    function forget(conversationId: string): void {
      preparations.get(conversationId)?.ending.abort();
      preparations.delete(conversationId);
    }

    async function prepare(op: Extract<CompactorOp, { type: "prepare" }>): Promise<void> {
      const { conversationId, cut, last, by, request } = op;
      forget(conversationId);
      const ending = new AbortController();
      const done = summarizer
        .summarize(by, request, ending.signal)
        .then((outcome) => (outcome.status === "done" && outcome.text !== "" ? { cut, last, outcome } : undefined));
      const preparation: Preparation = { ending, done, isRunning: true };
      preparations.set(conversationId, preparation);
      await done;
      preparation.isRunning = false;
    }

    return {
      count: async ({ items, model }) => {
        const uncounted = counts.uncounted(items, model);
        if (uncounted.length === 0) return;
        const outcome = await countTokens(
          cpu,
          uncounted.map((item) => countedItem(item).text),
          model,
        );
        // Items that cannot be counted keep their estimate.
        if (!outcome.ok) return;
        for (const [index, item] of uncounted.entries()) counts.set(item, model, outcome.value[index] ?? 0);
      },
      summarize: ({ by, request }, signal) => summarizer.summarize(by, request, signal),
      extract: ({ items, previousSummary }) => summarizer.extract(items, previousSummary),
      // Not awaited: no caller waits for its end, and the mailbox is bounded.
      prepare: (op) => void prepare(op),
      prepared: async ({ conversationId, wait }) => {
        const preparation = preparations.get(conversationId);
        return preparation?.isRunning === true && !wait ? "running" : await preparation?.done;
      },
      forget: ({ conversationId }) => forget(conversationId),
      [Symbol.asyncDispose]: async () => {
        for (const conversationId of preparations.keys()) forget(conversationId);
      },
    };
  },
};

export type { SummaryOutcome, SummaryRequest };

type WireTarget = Extract<SummaryTarget, { kind: "wire" }>;

/** The model that summarizes: one that a worker thread can reach, or an injected provider in this thread. */
export type SummaryProvider =
  | Exclude<SummaryTarget, WireTarget>
  /** A thread receives the credential for one request only; the source of credentials stays in this thread. */
  | (Omit<WireTarget, "credential" | "origin"> & { readonly access: Access })
  | { readonly kind: "provider"; readonly provider: Provider };

function providerOf(summarizer: SummaryProvider): string {
  if (summarizer.kind === "provider") return summarizer.provider.name;
  return summarizer.kind === "wire" ? summarizer.provider : summarizer.kind;
}

export class Summarizer {
  readonly #cpu: CpuPool;
  readonly #io: IoPool;
  readonly #gate: RequestGate;
  readonly #retry: RetryPolicy;

  constructor(cpu: CpuPool, io: IoPool, gate: RequestGate, retry: RetryPolicy = defaultRetry) {
    this.#cpu = cpu;
    this.#io = io;
    this.#gate = gate;
    this.#retry = retry;
  }

  /** Asks a model when the request limits allow it. Never throws: failures are outcomes. */
  async summarize(summarizer: SummaryProvider, request: SummaryRequest, signal: AbortSignal): Promise<SummaryOutcome> {
    const { conversationId, items } = request;
    const provider = providerOf(summarizer);
    const passage = await this.#gate.enter(
      { provider, conversationId, tokens: () => estimateItemTokens(items, estimateTokens) },
      signal,
    );
    if (passage === undefined) return { status: "aborted" };
    const outcome = await this.#ask(summarizer, request, signal);
    passage.release(outcome.status === "done" ? outcome.usage?.total_tokens : undefined);
    if (outcome.status === "failed") this.#gate.noteFailure(provider, outcome.failure);
    return outcome;
  }

  /** A request in this thread has the same deadline as one in a worker thread. */
  async #ask(summarizer: SummaryProvider, request: SummaryRequest, signal: AbortSignal): Promise<SummaryOutcome> {
    if (summarizer.kind === "wire") return await this.#askOverWire(summarizer, request, signal);
    if (summarizer.kind === "offline")
      return await summarizeInThread(this.#io, summarizer, request, signal, this.#retry);
    const deadlineMs = ioPoolLimits.deadlineMs.summarize;
    const until = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const outcome = await summarize(summarizer.provider, request, { signal: until, retry: this.#retry });
    if (outcome.status !== "aborted" || signal.aborted) return outcome;
    const message = `summarizing took longer than ${deadlineMs / 1000} s`;
    return { status: "failed", failure: { code: "deadline", message, retryable: false }, truncatedCount: 0 };
  }

  /** Asks again with a renewed token if the server has refused the first. */
  async #askOverWire(
    { access, ...target }: Extract<SummaryProvider, { kind: "wire" }>,
    request: SummaryRequest,
    signal: AbortSignal,
  ): Promise<SummaryOutcome> {
    const ask = (credential: Credential | undefined): Promise<SummaryOutcome> =>
      summarizeInThread(this.#io, { ...target, credential, origin: access.origin }, request, signal, this.#retry);
    try {
      const credential = await access.credential(signal);
      const outcome = await ask(credential);
      if (typeof credential !== "object" || access.renewed === undefined || !isAuthFailure(outcome)) return outcome;
      return await ask(await access.renewed(credential, signal));
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      return signal.aborted ? { status: "aborted" } : { status: "failed", failure: error.failure, truncatedCount: 0 };
    }
  }

  /** Extracts a summary from a history without a model. */
  async extract(items: readonly ResponseItem[], previousSummary: string | undefined): Promise<string> {
    const outcome = await this.#cpu.run("extract_summary", { items, previousSummary });
    // If the worker thread fails, extract in this thread, because this is the last resort.
    return outcome.ok ? outcome.value.text : extractSummary(items, previousSummary);
  }
}

function isAuthFailure(outcome: SummaryOutcome): boolean {
  return outcome.status === "failed" && outcome.failure.code === "auth";
}

export interface CompactorOptions {
  readonly cpu: CpuPool;
  readonly summarizer: Summarizer;
  readonly counts: TokenCounts;
}

/** A summary made ahead of time of the items before `cut`; `last` is the item just before it. */
export interface Prepared {
  readonly cut: number;
  readonly last: ResponseItem;
  readonly outcome: SummaryOutcome;
}

export type CompactorOp =
  | { readonly type: "count"; readonly items: readonly ResponseItem[]; readonly model: string }
  | { readonly type: "summarize"; readonly by: SummaryProvider; readonly request: SummaryRequest }
  | { readonly type: "extract"; readonly items: readonly ResponseItem[]; readonly previousSummary: string | undefined }
  | {
      readonly type: "prepare";
      readonly conversationId: string;
      readonly cut: number;
      readonly last: ResponseItem;
      readonly by: SummaryProvider;
      readonly request: SummaryRequest;
    }
  | { readonly type: "prepared"; readonly conversationId: string; readonly wait: boolean }
  | { readonly type: "forget"; readonly conversationId: string };

export interface CompactorAnswers {
  readonly summarize: SummaryOutcome;
  readonly extract: string;
  readonly prepared: Prepared | "running" | undefined;
}

interface Preparation {
  readonly ending: AbortController;
  readonly done: Promise<Prepared | undefined>;
  isRunning: boolean;
}
