import { defaultRetry, type RetryPolicy, retryDelayMs } from "../../base/time/retry.js";
import { pause } from "../../base/time/waiting.js";
import type { SummaryOptions, SummaryOutcome } from "../../messages/actors/compactor.js";
import type { Failure } from "../../messages/failure.js";
import type { KnownFacts, ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { MAX_SUMMARY_TOKENS } from "../constants.js";
import type { CompactionPlan, CompactionStrategy } from "../strategy.js";
import { summaryInput, summaryPrompt } from "./summary-prompt.js";

/** The first overflows drop one item each, every later one half of the rest, so that it ends soon for any length. */
const singleDrops = 2;
/** A job has a deadline, so it does not wait longer than this even if the server asks for it. */
const maxWaitMs = 60_000;

export interface SummaryRequest {
  readonly conversationId: string;
  readonly model: string;
  readonly instructions: string;
  /** Messages only: no API accepts calls without tools. The oldest are left out if there are too many. */
  readonly items: readonly ResponseItem[];
  /** The prompt that follows the items. */
  readonly prompt: string;
  readonly effort?: string | null;
  readonly facts?: KnownFacts | undefined;
  /** A longer answer is stopped and counts as failed. */
  readonly maxBytes: number;
}

/** The settings of a summary request that do not depend on the history. */
export interface SummaryParts {
  readonly conversationId: string;
  readonly options: SummaryOptions;
  /** Known facts about the summarizing model. */
  readonly facts: KnownFacts | undefined;
  /** The configured prompt, if any. */
  readonly prompt: string | undefined;
}

/** An earlier summary, of the items before `from`. */
export interface Continuation {
  readonly from: number;
  readonly summary: string;
}

/** Builds the request for a summary of a plan's items. */
export function summaryRequest(
  strategy: Pick<CompactionStrategy, "prompt">,
  { toSummarize, previousSummary }: Pick<CompactionPlan, "toSummarize" | "previousSummary">,
  { conversationId, options, facts, prompt: custom }: SummaryParts,
): SummaryRequest {
  const { target, systemPrompt, instructions, maxBytes } = options;
  return {
    conversationId,
    model: target.model,
    instructions: systemPrompt,
    items: summaryInput(toSummarize),
    prompt: summaryPrompt({ strategy, previousSummary, instructions, custom }),
    effort: target.effort,
    facts,
    maxBytes,
  };
}

/** The outcome of one request to the model. */
export type SummaryAnswer =
  | { readonly status: "done"; readonly text: string; readonly usage?: NonNullable<DoneOutcome["usage"]> | undefined }
  | { readonly status: "failed"; readonly failure: Failure }
  | { readonly status: "aborted" };
type DoneOutcome = Extract<SummaryOutcome, { status: "done" }>;

export interface SummaryAttempts {
  readonly signal: AbortSignal;
  readonly retry?: RetryPolicy | undefined;
  readonly random?: () => number;
  /** Waits `ms` milliseconds; resolves to false if the signal aborted the wait. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<boolean>;
}

/**
 * Sends a summary request until there is a summary or no further attempt makes sense. Items that do not fit are left
 * out, oldest first.
 */
export async function requestSummary(
  request: SummaryRequest,
  send: (request: ModelRequest) => Promise<SummaryAnswer>,
  { signal, retry = defaultRetry, random, pause: wait = pause }: SummaryAttempts,
): Promise<SummaryOutcome> {
  let items = request.items;
  let overflows = 0;
  let retries = 0;
  /** Failed attempts since the server last responded. */
  let attempt = 0;
  for (;;) {
    const truncatedCount = request.items.length - items.length;
    const answer = await send(modelRequest(request, items));
    if (answer.status === "aborted") return answer;
    if (answer.status === "done") return { ...answer, truncatedCount };
    const { failure } = answer;
    if (failure.code === "context_overflow") {
      if (items.length <= 1) return { status: "too_large", truncatedCount };
      overflows += 1;
      items = items.slice(overflows <= singleDrops ? 1 : Math.floor(items.length / 2));
      // The server has responded, so any earlier problem is over.
      attempt = 0;
      continue;
    }
    if (!failure.retryable || retries >= retry.maxRetries) return { status: "failed", failure, truncatedCount };
    retries += 1;
    attempt += 1;
    const waitMs = Math.min(retryDelayMs(retry, attempt, failure.retryAfterMs, random), maxWaitMs);
    if (!(await wait(waitMs, signal))) return { status: "aborted" };
  }
}

function modelRequest(request: SummaryRequest, items: readonly ResponseItem[]): ModelRequest {
  const { conversationId, model, instructions, prompt, effort, facts } = request;
  const promptItem: ResponseItem = { type: "message", role: "user", content: [{ type: "input_text", text: prompt }] };
  const input = [...items, promptItem];
  return { conversationId, model, instructions, input, tools: [], effort, facts, maxOutputTokens: MAX_SUMMARY_TOKENS };
}
