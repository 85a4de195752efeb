import { defaultRetry, type RetryPolicy } from "../../base/time/retry.js";
import type { SummaryRequest } from "../../compaction/summary/request-summary.js";
import { estimateItemTokens, estimateTokens } from "../../compaction/tokens/estimate-tokens.js";
import type { SummaryOutcome } from "../../messages/actors/compactor.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Access, Credential } from "../../providers/credential.js";
import type { Provider } from "../../providers/provider.js";
import type { StoredSummary } from "../../workers/history-jobs.js";
import { type SummaryTarget, ioPoolLimits, type IoPool, summarizeInThread } from "../../workers/io-pool.js";
import { summarize } from "../../workers/summarize.js";
import { builtRequest } from "../../workers/summary-job.js";
import type { RequestGate } from "../limits/limits.js";

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

/** The estimated tokens of a request, for the limits. */
function tokensOf(request: SummaryRequest | StoredSummary): number {
  if (!("source" in request)) return estimateItemTokens(request.items, estimateTokens);
  const { counts, context } = request.input;
  return counts.reduce<number>((sum, tokens = 0) => sum + tokens, 0) || (context.reported?.tokens ?? 0);
}

/** Asks models for summaries: in a thread, or an injected provider in this one. */
export class Summarizer {
  readonly #io: IoPool;
  readonly #gate: RequestGate;
  readonly #retry: RetryPolicy;

  constructor(io: IoPool, gate: RequestGate, retry: RetryPolicy = defaultRetry) {
    this.#io = io;
    this.#gate = gate;
    this.#retry = retry;
  }

  /** Starts a thread that can ask the model, if it is asked in a thread. */
  prepare(summarizer: SummaryProvider): void {
    if (summarizer.kind === "provider") return;
    const target = summarizer.kind === "wire" ? { ...summarizer, access: undefined } : summarizer;
    void this.#io.prepare("load_provider", target);
  }

  /** Asks a model when the request limits allow it. Never throws: failures are outcomes. */
  async summarize(
    summarizer: SummaryProvider,
    request: SummaryRequest | StoredSummary,
    signal: AbortSignal,
  ): Promise<SummaryOutcome> {
    const { conversationId } = request;
    const provider = providerOf(summarizer);
    const passage = await this.#gate.enter({ provider, conversationId, tokens: () => tokensOf(request) }, signal);
    if (passage === undefined) return { status: "aborted" };
    const outcome = await this.#ask(summarizer, request, signal);
    passage.release(outcome.status === "done" ? outcome.usage?.total_tokens : undefined);
    if (outcome.status === "failed") this.#gate.noteFailure(provider, outcome.failure);
    return outcome;
  }

  /** A request in this thread has the same deadline as one in a worker thread. */
  async #ask(
    summarizer: SummaryProvider,
    request: SummaryRequest | StoredSummary,
    signal: AbortSignal,
  ): Promise<SummaryOutcome> {
    if (summarizer.kind === "wire") return await this.#askOverWire(summarizer, request, signal);
    if (summarizer.kind === "offline")
      return await summarizeInThread(this.#io, summarizer, request, signal, this.#retry);
    const deadlineMs = ioPoolLimits.deadlineMs.summarize;
    const until = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const outcome = await summarize(summarizer.provider, await builtRequest(request), {
      signal: until,
      retry: this.#retry,
    });
    if (outcome.status !== "aborted" || signal.aborted) return outcome;
    const message = `summarizing took longer than ${deadlineMs / 1000} s`;
    return { status: "failed", failure: { code: "deadline", message, retryable: false }, truncatedCount: 0 };
  }

  /** Asks again with a renewed token if the server has refused the first. */
  async #askOverWire(
    { access, ...target }: Extract<SummaryProvider, { kind: "wire" }>,
    request: SummaryRequest | StoredSummary,
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
}

function isAuthFailure(outcome: SummaryOutcome): boolean {
  return outcome.status === "failed" && outcome.failure.code === "auth";
}
