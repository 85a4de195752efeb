import { jsonOrUndefined } from "../../../base/parse.js";
import type { RetryPolicy } from "../../../base/time/retry.js";
import type { TokenEstimates } from "../../../compaction/tokens/token-estimates.js";
import type { ModelPrice } from "../../../config/models/model-table.js";
import { costOf } from "../../../config/models/models.js";
import type { EventMsg, PersistedEventMsg } from "../../../messages/event.js";
import type { Failure } from "../../../messages/failure.js";
import type { ModelRequest } from "../../../messages/model.js";
import { messageText, type ResponseItem, webSearchQuery } from "../../../messages/response-item.js";
import { noTokens, type TokenUsage } from "../../../messages/token-usage.js";
import type { Provider } from "../../../providers/provider.js";
import { rejectsReasoning, withoutReasoning } from "../../../providers/rejected-reasoning.js";
import { yieldFairly, yieldToLoop } from "../../runtime/scheduler.js";
import {
  CallNormalizer,
  type NormalizedCall,
  nameAndArguments,
  type RunnableCallItem,
  isRunnableCall,
  callOutputs,
  type PendingCall,
} from "../calls/call-items.js";
import type { CallsEnd } from "../calls/run-calls.js";
import type { ConversationState } from "../state/state.js";
import type { ActiveTurn } from "../state/live-state.js";
import type { NewLine } from "./recording.js";
import { callModel, type ModelCallOutcome, type ModelCallGate, type ModelCallListener } from "./call-model.js";
import { type TurnBudget, usageInfo } from "./turn-budget.js";

const truncatedWarning =
  "The model's answer was cut off at its output limit and is not complete. " +
  "Ask it to continue, or ask for less at once.";

/**
 * Items written by the model itself; others, such as `web_search_call`, contain content that its provider looked up.
 */
const modelWrittenItems: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "custom_tool_call",
  "local_shell_call",
]);

/** Estimating so many items takes a few milliseconds. */
const estimatedAtOnce = 4_000;

/** The parts of the conversation that the steps of a turn need. */
export interface StepContext {
  readonly state: Readonly<ConversationState>;
  readonly provider: Provider;
  readonly retry: RetryPolicy;
  readonly gate: ModelCallGate;
  readonly budget: TurnBudget;
  /** The price of the model, if known. */
  readonly price: ModelPrice | undefined;
  /** Runs calls and records their outputs; returns whether the turn continues. */
  runCalls(calls: readonly PendingCall[]): Promise<CallsEnd>;
  request(): ModelRequest;
  /** Records the messages that the user has added to the turn; returns whether there were any. */
  recordSteered(): Promise<boolean>;
  /** Compacts the history when necessary. */
  compactIfDue(): Promise<void>;
  /** Compacts after a request was rejected as too long; returns whether to try again. */
  compactAfterOverflow(): Promise<boolean>;
  /** Learns from a provider's usage report: the count before the request, its number of items, and its usage. */
  learn(before: ConversationState["counted"], items: number, usage: TokenUsage): void;
  readonly estimates: TokenEstimates;
  /** Applies a line, appends it to the rollout and publishes it. */
  record(line: NewLine): void;
  publish(msg: EventMsg): void;
  /** Resolves when the published events have been read far enough; undefined when they already have. */
  eventRoom(): Promise<void> | undefined;
}

export type TurnEnd =
  | {
      readonly status: "completed";
      readonly lastAgentMessage: string | null;
      /** Whether the model reached its output limit before its last answer was complete. */
      readonly isTruncated: boolean;
    }
  | { readonly status: "failed"; readonly failure: Failure; readonly lastAgentMessage: string | null }
  | { readonly status: "aborted" };

/** The calls that run before the model is asked. */
export interface FirstCalls {
  /** Those that an earlier process had not run. */
  readonly leftOver: readonly RunnableCallItem[];
  /** A call of the user: no model is asked, unless a message is added meanwhile. */
  readonly userCall?: RunnableCallItem;
}

export const noCalls: FirstCalls = { leftOver: [] };

/** Runs the first calls, and calls the model until it requests no more tools and no message was added. */
export async function runSteps(
  context: StepContext,
  turn: ActiveTurn,
  { leftOver, userCall }: FirstCalls,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const { budget } = context;
  let lastAgentMessage: string | null = null;
  const cutOff = (): TurnEnd =>
    signal.aborted || budget.exceeded === undefined
      ? { status: "aborted" }
      : { status: "failed", failure: budget.exceeded, lastAgentMessage };
  let reasoningMode: ReasoningMode = "sent";
  let waiting: readonly PendingCall[] = leftOver.map((call) => ({ call, isLeftOver: true }));
  /** Set when the model has requested no more tools. */
  let answered: TurnEnd | undefined;
  if (userCall !== undefined) {
    waiting = [{ call: userCall, isLeftOver: false }];
    answered = { status: "completed", lastAgentMessage, isTruncated: false };
  }
  for (;;) {
    const end = await context.runCalls(waiting);
    if (waiting.length > 0) await yieldFairly("begin");
    if (end === "stopped") return { status: "aborted" };
    const isCutOff = end === "cut_off" || signal.aborted || budget.exceeded !== undefined;
    const isSteered = !isCutOff && (await context.recordSteered());
    if (answered !== undefined && !isSteered && !(isCutOff && userCall !== undefined)) return answered;
    if (isCutOff || signal.aborted) return cutOff();
    await context.compactIfDue();
    const { outcome, calls, ...step } = await runFittingStep(context, turn, reasoningMode);
    reasoningMode = step.reasoningMode;
    lastAgentMessage = step.lastAgentMessage ?? lastAgentMessage;
    if (outcome.status === "aborted") return cutOff();
    if (outcome.status === "failed") return { ...outcome, lastAgentMessage };
    const isTruncated = outcome.finishReason === "length";
    if (isTruncated) context.publish({ type: "warning", message: truncatedWarning });
    answered = calls.length === 0 ? { status: "completed", lastAgentMessage, isTruncated } : undefined;
    refuseInvalidCalls(context, calls);
    waiting = calls.filter(({ problem }) => problem === undefined).map(({ call }) => ({ call, isLeftOver: false }));
  }
}

/** Runs before anything else is asked or run: a resume must not find these calls open and take them for valid. */
function refuseInvalidCalls(context: StepContext, calls: readonly NormalizedCall[]): void {
  for (const { call, args, problem } of calls) {
    if (problem === undefined) continue;
    context.budget.callEnded({ name: nameAndArguments(call).name, args, success: false, output: problem });
    for (const payload of callOutputs([call], problem, { success: false }))
      context.record({ type: "response_item", payload });
  }
}

/** Whether reasoning items are sent: a server that has rejected them does not get them again in this turn. */
type ReasoningMode = "sent" | "left_out";

interface Step {
  readonly request: ModelRequest;
  readonly reasoningMode: ReasoningMode;
  readonly outcome: ModelCallOutcome;
  readonly calls: readonly NormalizedCall[];
  readonly lastAgentMessage: string | null;
}

/** A rejected request is sent once more if the cause could be removed. */
async function runFittingStep(context: StepContext, turn: ActiveTurn, reasoningMode: ReasoningMode): Promise<Step> {
  const step = await runAcceptedStep(context, turn, reasoningMode);
  if (!isOverflow(step.outcome)) return step;
  const retried = (await context.compactAfterOverflow())
    ? await runAcceptedStep(context, turn, step.reasoningMode)
    : step;
  return isOverflow(retried.outcome) ? { ...retried, outcome: withOverflowAdvice(retried.outcome) } : retried;
}

async function runAcceptedStep(context: StepContext, turn: ActiveTurn, reasoningMode: ReasoningMode): Promise<Step> {
  const step = await runStep(context, turn, reasoningMode);
  const { outcome, request } = step;
  if (outcome.status !== "failed" || !rejectsReasoning(outcome.failure, request)) return step;
  const message = `${withoutFullStop(outcome.failure)}; retrying without the model's earlier reasoning`;
  context.publish({ type: "warning", message });
  return await runStep(context, turn, "left_out");
}

type Overflow = Extract<ModelCallOutcome, { status: "failed" }>;

function isOverflow(outcome: ModelCallOutcome): outcome is Overflow {
  return outcome.status === "failed" && outcome.failure.code === "context_overflow";
}

function withOverflowAdvice({ status, failure }: Overflow): Overflow {
  const message = `${withoutFullStop(failure)}; use a model with a larger context window, or start a new conversation: cody new`;
  return { status, failure: { ...failure, message } };
}

/** Makes one model call; the calls in its answer are not run yet. */
async function runStep(context: StepContext, turn: ActiveTurn, reasoningMode: ReasoningMode): Promise<Step> {
  const calls: NormalizedCall[] = [];
  const normalizer = new CallNormalizer(context.state.history);
  const answer: ResponseItem[] = [];
  let lastAgentMessage: string | null = null;
  const callEvents = new ToolCallEvents((msg) => context.publish(msg));
  const listener = stepListener(context, turn, callEvents, (itemId, received) => {
    let item = received;
    if (isRunnableCall(received)) {
      const normalized = normalizer.normalize(received);
      calls.push(normalized);
      callEvents.end(itemId, normalized);
      item = normalized.call;
    }
    answer.push(item);
    if (item.type === "message" && item.role === "assistant") lastAgentMessage = messageText(item);
    return item;
  });
  const request = reasoningMode === "sent" ? context.request() : withoutReasoning(context.request());
  const { counted: before, history } = context.state;
  const items = history.length;
  turn.finishMessage();
  turn.finishReasoning();
  const outcome = await callModel(context.provider, request, listener, context);
  if (context.budget.isOverBytes) recordOpenText(context, turn, listener);
  if (outcome.status === "done") {
    if (outcome.usage !== undefined) context.learn(before, items, outcome.usage);
    const usage = outcome.usage ?? (await estimatedUsage(context, request, answer));
    recordUsage(context, usage);
    context.budget.spend(usage.total_tokens, context.price === undefined ? undefined : costOf(usage, context.price));
  }
  const isTruncated = outcome.status === "done" && outcome.finishReason === "length";
  const wholeCalls = isTruncated ? refuseTruncatedCall(calls, answer.at(-1)) : calls;
  if (isTruncated) callEvents.cutOff();
  return { request, reasoningMode, outcome, calls: wholeCalls, lastAgentMessage };
}

/**
 * Refuses the last call of a truncated answer, unless it is known to be complete: its arguments are a JSON object, or
 * it is the input of a freeform tool whose item the server has marked as completed.
 */
function refuseTruncatedCall(
  calls: readonly NormalizedCall[],
  lastItem: ResponseItem | undefined,
): readonly NormalizedCall[] {
  const last = calls.at(-1);
  if (last === undefined || last.call !== lastItem || last.call.type === "local_shell_call") return calls;
  const { call, problem } = last;
  const args = last.args.trim();
  // Without arguments, the call may have been cut off before them.
  const isWhole = call.type === "function_call" ? problem === undefined && args !== "" : call.status === "completed";
  // The point of the cut is irrelevant: two cut-off calls of one tool count as identical.
  return isWhole
    ? calls
    : [...calls.slice(0, -1), { call, args: "(cut off)", problem: truncatedCallProblem(call.name) }];
}

function truncatedCallProblem(name: string): string {
  return (
    `the answer reached the model's output limit before the call of ${name} was complete; nothing was run. ` +
    "Make it shorter, or split it into several calls"
  );
}

/**
 * At the byte limit the open message is kept as if the model had ended it. Open reasoning is kept only as an event: a
 * provider would refuse it without its signature or encrypted form. Unfinished calls are shown but not kept.
 */
function recordOpenText(context: StepContext, turn: ActiveTurn, listener: ModelCallListener): void {
  const { openReasoning, openMessage } = turn;
  if (openReasoning.text !== "") {
    const { itemId, text } = openReasoning;
    context.record({ type: "event_msg", payload: { type: "agent_reasoning", text, item_id: itemId } });
  }
  if (openMessage.text === "") return;
  const content = [{ type: "output_text" as const, text: openMessage.text }];
  listener.item(openMessage.itemId, { type: "message", role: "assistant", content });
}

function stepListener(
  context: StepContext,
  turn: ActiveTurn,
  callEvents: ToolCallEvents,
  normalize: (itemId: string, item: ResponseItem) => ResponseItem,
): ModelCallListener {
  return {
    textDelta: (itemId, delta) => {
      turn.addText(itemId, delta);
      context.publish({ type: "agent_message_delta", delta, item_id: itemId });
    },
    reasoningDelta: (itemId, delta) => {
      turn.addReasoning(itemId, delta);
      context.publish({ type: "agent_reasoning_delta", delta, item_id: itemId });
    },
    toolCallStart: (itemId, callId, name) => callEvents.start(itemId, callId, name),
    toolCallDelta: (itemId, delta) => callEvents.delta(itemId, delta),
    room: () => context.eventRoom(),
    item: (itemId, received) => {
      if (!modelWrittenItems.has(received.type)) turn.noteOutside(received.type);
      const item = normalize(itemId, received);
      if (item.type === "message") turn.finishMessage();
      if (item.type === "reasoning") turn.finishReasoning();
      context.record({ type: "response_item", payload: item });
      for (const msg of eventsOf(item, itemId)) context.record({ type: "event_msg", payload: msg });
    },
    retry: (attempt, waitMs, failure) => {
      callEvents.restart();
      const { maxRetries } = context.retry;
      context.publish({
        type: "stream_error",
        message: `${withoutFullStop(failure)}; retrying in ${shortSeconds(waitMs)} s (${attempt}/${maxRetries})`,
        codex_error_info: failure.code,
        attempt,
        max_attempts: maxRetries,
        wait_ms: waitMs,
      });
    },
  };
}

/** Returns a failure's message without its final full stop, so that a sentence can continue. */
function withoutFullStop({ message }: Failure): string {
  return message.replace(/[.!\s]+$/, "");
}

function shortSeconds(ms: number): number {
  return ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000);
}

/** Codex displays a conversation from these events and sends the items to the model, so both are written. */
function eventsOf(item: ResponseItem, itemId: string): PersistedEventMsg[] {
  if (item.type === "message" && item.role === "assistant") {
    return [{ type: "agent_message", message: messageText(item), item_id: itemId }];
  }
  if (item.type === "reasoning") {
    return item.summary.map((part) => ({ type: "agent_reasoning", text: part.text, item_id: itemId }));
  }
  if (item.type === "web_search_call") {
    const { action } = item;
    const query = webSearchQuery(action);
    return [{ type: "web_search_end", call_id: itemId, query, ...(action ? { action } : {}) }];
  }
  return [];
}

function recordUsage(context: StepContext, usage: TokenUsage): void {
  const info = usageInfo(context.state.usage, usage, context.price);
  context.record({ type: "event_msg", payload: { type: "token_count", info } });
}

/** Estimates the usage for a model that does not report it. */
async function estimatedUsage(
  { estimates }: StepContext,
  request: ModelRequest,
  answer: readonly ResponseItem[],
): Promise<TokenUsage> {
  let input = estimates.ofText(request.instructions);
  for (let from = 0; from < request.input.length; from += estimatedAtOnce) {
    if (from > 0) await yieldToLoop("continue");
    input += estimates.sumOf(request.input.slice(from, from + estimatedAtOnce));
  }
  const output = estimates.sumOf(answer);
  return { ...noTokens, input_tokens: input, output_tokens: output, total_tokens: input + output };
}

interface StartedCall {
  readonly callId: string;
  readonly name: string;
  hasArguments: boolean;
}

/**
 * Publishes the start, the arguments and the end of every tool call of one answer. A provider that sends calls in one
 * piece causes the same events as one that streams them.
 */
class ToolCallEvents {
  readonly #publish: (msg: EventMsg) => void;
  readonly #started = new Map<string, StartedCall>();

  constructor(publish: (msg: EventMsg) => void) {
    this.#publish = publish;
  }

  start(itemId: string, callId: string, name: string): void {
    if (this.#started.has(itemId)) return;
    this.#started.set(itemId, { callId, name, hasArguments: false });
    this.#publish({ type: "tool_call_start", item_id: itemId, call_id: callId, name });
  }

  delta(itemId: string, delta: string): void {
    const call = this.#started.get(itemId);
    if (call === undefined || delta === "") return;
    call.hasArguments = true;
    this.#publish({ type: "tool_call_delta", item_id: itemId, delta });
  }

  end(itemId: string, { call, args }: NormalizedCall): void {
    const { name } = nameAndArguments(call);
    const callId = call.call_id ?? "";
    this.start(itemId, callId, name);
    if (this.#started.get(itemId)?.hasArguments === false) this.delta(itemId, args);
    this.#started.delete(itemId);
    // Over the Messages API a cut-off call arrives with partial arguments.
    const isCut = call.type === "function_call" && args !== "" && jsonOrUndefined(args) === undefined;
    const incomplete = isCut ? { incomplete: true } : {};
    this.#publish({ type: "tool_call_end", item_id: itemId, call_id: callId, name, ...incomplete });
  }

  /** Ends the calls that the output limit has cut off. */
  cutOff(): void {
    for (const [itemId, { callId, name }] of this.#started) {
      this.#publish({ type: "tool_call_end", item_id: itemId, call_id: callId, name, incomplete: true });
    }
    this.#started.clear();
  }

  /** Called when the request is repeated, so that its calls start again. */
  restart(): void {
    this.#started.clear();
  }
}
