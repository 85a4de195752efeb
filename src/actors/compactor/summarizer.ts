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
import { FailureError } from "../../messages/failure.js";

export type { SummaryOutcome, SummaryRequest };

type WireTarget = Extract<SummaryTarget, { kind: "wire" }>;

/** Who summarizes: what a thread can reach, or a provider that was injected and lives in this one. */
export type SummaryBy =
  | Exclude<SummaryTarget, WireTarget>
  /** A thread is told the credential of one request; where it comes from stays here. */
  | (Omit<WireTarget, "credential" | "origin"> & { readonly access: Access })
  | { readonly kind: "provider"; readonly provider: Provider };

function providerOf(by: SummaryBy): string {
  if (by.kind === "provider") return by.provider.name;
  return by.kind === "wire" ? by.provider : by.kind;
}

/** Where summaries are made. */
export class Summarizer {
  readonly #cpu: CpuPool;
  readonly #io: IoPool;
  readonly #gate: RequestGate;

  constructor(cpu: CpuPool, io: IoPool, gate: RequestGate) {
    this.#cpu = cpu;
    this.#io = io;
    this.#gate = gate;
  }

  /** Asks a model when it is this request's turn. Never throws: what happens is an outcome. */
  async summarize(by: SummaryBy, request: SummaryRequest, signal: AbortSignal): Promise<SummaryOutcome> {
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

  /** It takes no longer in this thread than in another. */
  async #ask(by: SummaryBy, request: SummaryRequest, signal: AbortSignal): Promise<SummaryOutcome> {
    if (by.kind === "wire") return await this.#askOverWire(by, request, signal);
    if (by.kind === "offline") return await summarizeInThread(this.#io, by, request, signal);
    const deadlineMs = ioPoolLimits.deadlineMs.summarize;
    const until = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const outcome = await summarize(by.provider, request, { signal: until });
    if (outcome.status !== "aborted" || signal.aborted) return outcome;
    const message = `the summary took longer than ${deadlineMs / 1000} s`;
    return { status: "failed", failure: { code: "deadline", message, retryable: false }, truncatedCount: 0 };
  }

  /** Once more with another token, where the server has refused one. */
  async #askOverWire(
    { access, ...target }: Extract<SummaryBy, { kind: "wire" }>,
    request: SummaryRequest,
    signal: AbortSignal,
  ): Promise<SummaryOutcome> {
    const ask = (credential: Credential | undefined): Promise<SummaryOutcome> =>
      summarizeInThread(this.#io, { ...target, credential, origin: access.origin }, request, signal);
    try {
      const credential = await access.credential(signal);
      const outcome = await ask(credential);
      if (typeof credential !== "object" || access.renewed === undefined || !isRefused(outcome)) return outcome;
      return await ask(await access.renewed(credential, signal));
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      return signal.aborted ? { status: "aborted" } : { status: "failed", failure: error.failure, truncatedCount: 0 };
    }
  }

  /** Takes what can be taken from a history without a model. */
  async extract(items: readonly ResponseItem[], previousSummary: string | undefined): Promise<string> {
    const outcome = await this.#cpu.run("extract_summary", { items, previousSummary });
    // What no thread can do is done here: it is the last resort.
    return outcome.ok ? outcome.value.text : extractSummary(items, previousSummary);
  }
}

function isRefused(outcome: SummaryOutcome): boolean {
  return outcome.status === "failed" && outcome.failure.code === "auth";
}
