import { estimateItemTokens } from "../../compaction/estimate-tokens.js";
import type { EventMsg, PersistedEventMsg } from "../../messages/event.js";
import type { Failure } from "../../messages/failure.js";
import type { ModelRequest } from "../../messages/model.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { messageText } from "../../messages/response-item.js";
import { addUsage, noTokens, type TokenUsage } from "../../messages/token-usage.js";
import type { Provider } from "../../providers/provider.js";
import type { ActiveTurn } from "./active-turn.js";
import { type CallItem, isCall, outputsFor } from "./open-calls.js";
import type { NewLine } from "./recording.js";
import { type RetryPolicy, sample, type SampleListener } from "./sampling.js";
import type { ConversationState } from "./state.js";

/** A turn that goes on asking for tools is stopped here. */
const maxSteps = 200;

/** What the steps of a turn need from their conversation. */
export interface StepWorld {
  readonly state: Readonly<ConversationState>;
  readonly provider: Provider;
  readonly retry: RetryPolicy;
  request(): ModelRequest;
  countTokens(text: string): number;
  /** Applies a line, hands it to the rollout, publishes it. */
  record(line: NewLine): void;
  publish(msg: EventMsg): void;
}

export type TurnEnd =
  | { readonly status: "completed"; readonly lastAgentMessage: string | null }
  | { readonly status: "failed"; readonly failure: Failure; readonly lastAgentMessage: string | null }
  | { readonly status: "aborted" };

/** Asks the model until it stops asking for tools. */
export async function runSteps(world: StepWorld, turn: ActiveTurn, signal: AbortSignal): Promise<TurnEnd> {
  let lastAgentMessage: string | null = null;
  for (let step = 0; step < maxSteps; step++) {
    const calls: CallItem[] = [];
    const answer: ResponseItem[] = [];
    const listener = stepListener(world, turn, (item) => {
      answer.push(item);
      if (isCall(item)) calls.push(item);
      if (item.type === "message" && item.role === "assistant") lastAgentMessage = messageText(item);
    });
    const request = world.request();
    const outcome = await sample(world.provider, request, listener, world.retry, signal);
    if (outcome.status === "aborted") return outcome;
    if (outcome.status === "failed") return { ...outcome, lastAgentMessage };
    recordUsage(world, outcome.usage ?? estimatedUsage(world, request, answer));
    if (calls.length === 0) return { status: "completed", lastAgentMessage };
    for (const call of calls) answerCall(world, turn, call);
  }
  return {
    status: "failed",
    failure: { code: "bad_request", message: `stopped after ${maxSteps} steps in one turn`, retryable: false },
    lastAgentMessage,
  };
}

function stepListener(world: StepWorld, turn: ActiveTurn, onItem: (item: ResponseItem) => void): SampleListener {
  return {
    textDelta: (itemId, delta) => {
      turn.text += delta;
      world.publish({ type: "agent_message_delta", delta, item_id: itemId });
    },
    reasoningDelta: (itemId, delta) => {
      turn.reasoning += delta;
      world.publish({ type: "agent_reasoning_delta", delta, item_id: itemId });
    },
    item: (itemId, item) => {
      onItem(item);
      world.record({ type: "response_item", payload: item });
      for (const msg of eventsOf(item, itemId)) world.record({ type: "event_msg", payload: msg });
    },
    retry: (attempt, failure) =>
      world.publish({
        type: "stream_error",
        message: `${failure.message}; trying again (${attempt}/${world.retry.maxRetries})`,
        codex_error_info: failure.code,
      }),
  };
}

/** Codex shows a conversation by these events and sends the model the items: both are written. */
function eventsOf(item: ResponseItem, itemId: string): PersistedEventMsg[] {
  if (item.type === "message" && item.role === "assistant") {
    return [{ type: "agent_message", message: messageText(item), item_id: itemId }];
  }
  if (item.type === "reasoning") {
    return item.summary.map((part) => ({ type: "agent_reasoning", text: part.text, item_id: itemId }));
  }
  return [];
}

/** Every call gets an output, or the next request would be refused. */
function answerCall(world: StepWorld, turn: ActiveTurn, call: CallItem): void {
  turn.toolCalls.push(call);
  const name = call.type === "local_shell_call" ? "local_shell" : call.name;
  for (const payload of outputsFor([call], `there is no tool named ${name}`)) {
    world.record({ type: "response_item", payload });
  }
}

function recordUsage(world: StepWorld, usage: TokenUsage): void {
  const before = world.state.usage?.total_token_usage ?? noTokens;
  world.record({
    type: "event_msg",
    payload: { type: "token_count", info: { total_token_usage: addUsage(before, usage), last_token_usage: usage } },
  });
}

/** For a model that does not say what it used. */
function estimatedUsage(world: StepWorld, request: ModelRequest, answer: readonly ResponseItem[]): TokenUsage {
  const count = (text: string) => world.countTokens(text);
  const input = count(request.instructions) + estimateItemTokens(request.input, count);
  const output = estimateItemTokens(answer, count);
  return { ...noTokens, input_tokens: input, output_tokens: output, total_tokens: input + output };
}
