import { MAX_SUMMARY_TOKENS } from "../compaction/constants.js";
import type { Failure } from "../messages/failure.js";
import type { KnownFacts, ModelRequest } from "../messages/model.js";
import { messageText, type ResponseItem } from "../messages/response-item.js";
import type { TokenUsage } from "../messages/token-usage.js";
import { providerBug, ModelStreamReader } from "../providers/model-stream-reader.js";
import { defaultRetry, type RetryPolicy, retryDelayMs } from "../base/time/retry.js";
import { pause } from "../base/time/waiting.js";
import type { Provider } from "../providers/provider.js";

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

/** `truncatedCount` is the number of oldest items that were left out because they did not fit. */
export type SummaryOutcome =
  | {
      readonly status: "done";
      /** May be empty. */
      readonly text: string;
      readonly truncatedCount: number;
      readonly usage: TokenUsage | undefined;
    }
  /** The newest item alone exceeds the model's context window. */
  | { readonly status: "too_large"; readonly truncatedCount: number }
  | { readonly status: "failed"; readonly failure: Failure; readonly truncatedCount: number }
  | { readonly status: "aborted" };

interface SummaryContext {
  readonly signal: AbortSignal;
  readonly retry?: RetryPolicy | undefined;
  readonly random?: () => number;
  /** Waits `ms` milliseconds; resolves to false if the signal aborted the wait. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<boolean>;
}

/** The first overflows drop one item each, every later one half of the rest, so that it ends soon for any length. */
const singleDrops = 2;
/** A job has a deadline, so it does not wait longer than this even if the server asks for it. */
const maxWaitMs = 60_000;

/**
 * Asks a model for a summary until there is one or no further attempt makes sense. Never throws, and ends soon after an
 * abort.
 */
export async function summarize(
  provider: Provider,
  request: SummaryRequest,
  context: SummaryContext,
): Promise<SummaryOutcome> {
  const { signal, retry = defaultRetry, random, pause: wait = pause } = context;
  let items = request.items;
  let overflows = 0;
  let retries = 0;
  /** Failed attempts since the server last responded. */
  let attempt = 0;
  for (;;) {
    const truncatedCount = request.items.length - items.length;
    const answer = await requestAnswer(provider, modelRequest(request, items), request.maxBytes, signal);
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

type Answer =
  | { readonly status: "done"; readonly text: string; readonly usage: TokenUsage | undefined }
  | { readonly status: "failed"; readonly failure: Failure }
  | { readonly status: "aborted" };

/** Reads the whole answer. Nothing is shown before that, so an interrupted answer can be requested again. */
async function requestAnswer(
  provider: Provider,
  request: ModelRequest,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Answer> {
  if (signal.aborted) return { status: "aborted" };
  const stopped = new AbortController();
  const abort = (): void => stopped.abort();
  signal.addEventListener("abort", abort);
  try {
    return await readWholeAnswer(provider, request, maxBytes, stopped);
  } catch (error) {
    // An injected provider may return something that is not an event.
    return { status: "failed", failure: providerBug(error) };
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function readWholeAnswer(
  provider: Provider,
  request: ModelRequest,
  maxBytes: number,
  stopped: AbortController,
): Promise<Answer> {
  const { signal } = stopped;
  const texts: string[] = [];
  let usage: TokenUsage | undefined;
  using answer = new ModelStreamReader(() => provider.stream(request, signal), ignoreDelta, { signal, maxBytes });
  for (;;) {
    const event = await answer.next();
    if (event === "aborted" || signal.aborted) return { status: "aborted" };
    if (event === "too_long") {
      stopped.abort();
      return { status: "failed", failure: tooLong(maxBytes) };
    }
    switch (event.type) {
      case "item":
        // Calls are ignored, because no tools were offered.
        if (event.item.type === "message" && event.item.role === "assistant") texts.push(messageText(event.item));
        break;
      case "tool_call_start":
        break;
      case "usage":
        usage = event.usage;
        break;
      case "done":
        return { status: "done", text: texts.join("\n").trim(), usage };
      case "failed":
        return { status: "failed", failure: event.failure };
    }
  }
}

function tooLong(maxBytes: number): Failure {
  const message = `the summary was stopped at its limit of ${maxBytes} bytes; to allow more: cody config set turnLimits.answerBytes <number>`;
  return { code: "limit_reached", message, retryable: false };
}

/** Deltas are ignored: a summary is used only once it is complete. */
function ignoreDelta(): void {
  // The items contain the whole text.
}
