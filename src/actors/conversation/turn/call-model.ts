import type { Failure } from "../../../messages/failure.js";
import type { FinishReason, ModelRequest } from "../../../messages/model.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { TokenUsage } from "../../../messages/token-usage.js";
import { type Delta, ModelStreamReader } from "../../../providers/model-stream-reader.js";
import { type RetryPolicy, retryDelayMs } from "../../../base/time/retry.js";
import { pause } from "../../../base/time/waiting.js";
import type { Provider } from "../../../providers/provider.js";
import type { RequestPermit } from "../../limits/limits.js";
import { yieldFairly } from "../../runtime/scheduler.js";
import type { TurnBudget } from "./turn-budget.js";

/** Receives the parts of a model's answer. */
export interface ModelCallListener {
  textDelta(itemId: string, delta: string): void;
  reasoningDelta(itemId: string, delta: string): void;
  toolCallStart(itemId: string, callId: string, name: string): void;
  toolCallDelta(itemId: string, delta: string): void;
  /** Resolves when more deltas can be taken; undefined when they can be taken now. */
  room(): Promise<void> | undefined;
  item(itemId: string, item: ResponseItem): void;
  retry(attempt: number, waitMs: number, failure: Failure): void;
}

/** Makes a request wait until it may be sent. */
export interface ModelCallGate {
  /** Resolves with undefined when the wait was aborted. */
  enter(request: ModelRequest): Promise<RequestPermit | undefined>;
  noteFailure(failure: Failure): void;
}

export type ModelCallOutcome =
  | { readonly status: "done"; readonly finishReason: FinishReason; readonly usage: TokenUsage | undefined }
  | { readonly status: "failed"; readonly failure: Failure }
  | { readonly status: "aborted" };

/**
 * Makes one model call. It is repeated only while nothing of the answer was shown: text that appears twice, or a call
 * that runs twice, is worse than a failed turn. A call that has only begun may begin again.
 */
export async function callModel(
  provider: Provider,
  request: ModelRequest,
  listener: ModelCallListener,
  { retry, gate, budget }: { readonly retry: RetryPolicy; readonly gate: ModelCallGate; readonly budget: TurnBudget },
): Promise<ModelCallOutcome> {
  const { signal } = budget;
  for (let attempt = 1; ; attempt++) {
    const permit = await gate.enter(request);
    if (permit === undefined) return { status: "aborted" };
    const { outcome, shown } = await readAnswer(provider, request, listener, budget);
    permit.release(outcome.status === "done" ? outcome.usage?.total_tokens : undefined);
    if (outcome.status !== "failed") return outcome;
    gate.noteFailure(outcome.failure);
    if (!outcome.failure.retryable || shown || attempt > retry.maxRetries) return outcome;
    const waitMs = retryDelayMs(retry, attempt, outcome.failure.retryAfterMs);
    listener.retry(attempt, waitMs, outcome.failure);
    if (!(await pause(waitMs, signal))) return { status: "aborted" };
  }
}

async function readAnswer(
  provider: Provider,
  request: ModelRequest,
  listener: ModelCallListener,
  budget: TurnBudget,
): Promise<{ outcome: ModelCallOutcome; shown: boolean }> {
  const { signal } = budget;
  let shown = false;
  const onDelta = ({ type, itemId, delta }: Delta): void => {
    if (type === "tool_call_delta") return listener.toolCallDelta(itemId, delta);
    shown = true;
    if (type === "text_delta") listener.textDelta(itemId, delta);
    else listener.reasoningDelta(itemId, delta);
  };
  const onEvent: OutcomeListener = {
    item: (itemId, item) => {
      shown = true;
      listener.item(itemId, item);
    },
    toolCallStart: (itemId, callId, name) => listener.toolCallStart(itemId, callId, name),
  };
  using answer = new ModelStreamReader(() => provider.stream(request, signal), onDelta, {
    signal,
    maxBytes: budget.answerBytes,
    room: () => listener.room(),
  });
  const outcome = await readOutcome(answer, onEvent, signal);
  // Aborts the turn, and with it the provider's work, when the answer was stopped for its length.
  budget.receive(answer.bytes);
  return { outcome, shown };
}

type OutcomeListener = Pick<ModelCallListener, "item" | "toolCallStart">;

async function readOutcome(
  answer: ModelStreamReader,
  listener: OutcomeListener,
  signal: AbortSignal,
): Promise<ModelCallOutcome> {
  let usage: TokenUsage | undefined;
  for (;;) {
    const event = await answer.next();
    if (event === "aborted" || event === "too_long" || signal.aborted) return { status: "aborted" };
    switch (event.type) {
      case "item":
        // Recording it, and often ending the turn after it, is expensive, and many answers may end together.
        await yieldFairly("end");
        if (signal.aborted) return { status: "aborted" };
        listener.item(event.itemId, event.item);
        break;
      case "tool_call_start":
        listener.toolCallStart(event.itemId, event.callId, event.name);
        break;
      case "usage":
        usage = event.usage;
        break;
      case "done":
        return { status: "done", finishReason: event.finishReason, usage };
      case "failed":
        return { status: "failed", failure: event.failure };
    }
  }
}
