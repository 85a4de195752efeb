import type { SummaryOutcome } from "../messages/actors/compactor.js";
import type { Failure } from "../messages/failure.js";
import type { ModelRequest } from "../messages/model.js";
import { messageText } from "../messages/response-item.js";
import type { TokenUsage } from "../messages/token-usage.js";
import {
  requestSummary,
  type SummaryAnswer,
  type SummaryAttempts,
  type SummaryRequest,
} from "../compaction/summary/request-summary.js";
import { providerBug, ModelStreamReader } from "../providers/model-stream-reader.js";
import type { Provider } from "../providers/provider.js";

/** Asks a model for a summary. Never throws, and ends soon after an abort. */
export async function summarize(
  provider: Provider,
  request: SummaryRequest,
  attempts: SummaryAttempts,
): Promise<SummaryOutcome> {
  const { signal } = attempts;
  return await requestSummary(request, (sent) => requestAnswer(provider, sent, request.maxBytes, signal), attempts);
}

/** Reads the whole answer. Nothing is shown before that, so an interrupted answer can be requested again. */
async function requestAnswer(
  provider: Provider,
  request: ModelRequest,
  maxBytes: number,
  signal: AbortSignal,
): Promise<SummaryAnswer> {
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
): Promise<SummaryAnswer> {
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
