import { estimateItemTokens, estimateTokens } from "../../compaction/tokens/estimate-tokens.js";
import { extractSummary } from "../../compaction/summary/extract-summary.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { Access, Credential } from "../../providers/credential.js";
import type { Provider } from "../../providers/provider.js";
import type { SummaryTarget } from "../../workers/io-jobs.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import { ioPoolLimits, type IoPool } from "../../workers/open-io-pool.js";
import { summarizeInThread } from "../../workers/summarize-in-thread.js";
import type { RequestGate } from "../limits/request-gate.js";
import { summarize, type SummaryOutcome, type SummaryRequest } from "../../workers/summarize.js";
import { FailureError } from "../../messages/failure-error.js";

export type { SummaryOutcome, SummaryRequest };

type WireTarget = Extract<SummaryTarget, { kind: "wire" }>;

/** The model that summarizes: one that a worker thread can reach, or an injected provider in this thread. */
export type SummaryProvider =
  | Exclude<SummaryTarget, WireTarget>
  /** A thread receives the credential for one request only; the source of credentials stays in this thread. */
  | (Omit<WireTarget, "credential" | "origin"> & { readonly access: Access })
  | { readonly kind: "provider"; readonly provider: Provider };

function providerOf(by: SummaryProvider): string {
  if (by.kind === "provider") return by.provider.name;
  return by.kind === "wire" ? by.provider : by.kind;
}

export class Summarizer {
  readonly #cpu: CpuPool;
  readonly #io: IoPool;
  readonly #gate: RequestGate;

  constructor(cpu: CpuPool, io: IoPool, gate: RequestGate) {
    this.#cpu = cpu;
    this.#io = io;
    this.#gate = gate;
  }

  /** Asks a model when the request limits allow it. Never throws: failures are outcomes. */
  async summarize(by: SummaryProvider, request: SummaryRequest, signal: AbortSignal): Promise<SummaryOutcome> {
    const { conversationId, items } = request;
    const provider = providerOf(by);
    const passage = await this.#gate.enter(
      { provider, conversationId, tokens: () => estimateItemTokens(items, estimateTokens) },
      signal,
    );
    if (passage === undefined) return { status: "aborted" };
    const outcome = await this.#ask(by, request, signal);
    passage.leave(outcome.status === "done" ? outcome.usage?.total_tokens : undefined);
    if (outcome.status === "failed") this.#gate.heard(provider, outcome.failure);
    return outcome;
  }

  /** A request in this thread has the same deadline as one in a worker thread. */
  async #ask(by: SummaryProvider, request: SummaryRequest, signal: AbortSignal): Promise<SummaryOutcome> {
    if (by.kind === "wire") return await this.#askOverWire(by, request, signal);
    if (by.kind === "offline") return await summarizeInThread(this.#io, by, request, signal);
    const deadlineMs = ioPoolLimits.deadlineMs.summarize;
    const until = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const outcome = await summarize(by.provider, request, { signal: until });
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
      summarizeInThread(this.#io, { ...target, credential, origin: access.origin }, request, signal);
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
