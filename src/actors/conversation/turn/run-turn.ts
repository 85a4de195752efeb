import { newestTurns } from "../../../compaction/cut/newest-turns.js";
import type { EventMsg } from "../../../messages/event.js";
import type { ModelRequest } from "../../../messages/model.js";
import { OutputSchema } from "../../../messages/output-schema.js";
import { messageText, type ResponseItem } from "../../../messages/response-item.js";
import { inputContent, inputText } from "../../../messages/user-input.js";
import { yieldFairly } from "../../runtime/scheduler.js";
import { offeredTools, type ConversationContext } from "../conversation-context.js";
import type { RunnableCallItem } from "../calls/call-items.js";
import { TurnCalls } from "../calls/run-calls.js";
import { AutoCompaction } from "../compaction/compaction.js";
import { type ConversationCell, type QueuedInput, ActiveTurn } from "../state/live-state.js";
import { type Settings, toTurnContext } from "../state/settings.js";
import type { Recording } from "./recording.js";
import { type FirstCalls, noCalls, runSteps, type StepContext, type TurnEnd } from "./run-steps.js";
import type { ModelCallGate } from "./call-model.js";
import { TurnBudget } from "./turn-budget.js";
import { hookMessage, promptHooks, startHooks, StopHooks, type TurnStart } from "./turn-hooks.js";

/**
 * Plays one turn, from the user's input to the event that ends it: exactly one of `task_complete` and `turn_aborted`.
 */
export async function runTurn(context: ConversationContext, input: QueuedInput, signal: AbortSignal): Promise<void> {
  await yieldFairly("begin");
  const turn = beginTurn(context, {
    // As in Codex, a turn has the id of its submission.
    turnId: input.submissionId,
    submissionId: input.submissionId,
    startedAt: context.now(),
    input: input.items,
  });
  if (input.isOutside) turn.noteOutside("the message");
  recordStart(context, turn);
  const started: TurnStart =
    context.hooks === undefined
      ? { contexts: [] }
      : await startHooks(context, context.hooks, turn, input.settings, signal);
  if ("block" in started) return await refuseTurn(context, turn, started.block);
  recordContext(context, turn, input);
  recordMessage(context, input, started.contexts);
  const { settings, outputSchema, userCall } = input;
  if (userCall !== undefined) context.recording.line({ type: "response_item", payload: userCall }, turn.submissionId);
  const calls = userCall === undefined ? noCalls : { leftOver: [], userCall };
  await runTurnToEnd(context, turn, { settings, outputSchema }, calls, signal);
}

/** Ends a turn whose message a hook blocks. The message is not recorded, because it may be blocked for its content. */
async function refuseTurn(context: ConversationContext, turn: ActiveTurn, block: string): Promise<void> {
  const error = blockedMsg(block);
  const failure = { code: "aborted", message: error.message, retryable: false } as const;
  context.publish(error, turn.submissionId);
  const end = { status: "failed", failure, lastAgentMessage: null } as const;
  await recordEnd(context.recording, turn, end, timesOf(turn, context.now()));
}

/** A turn that was waiting for an approval when its process died, or when its conversation fell asleep. */
interface OpenTurn {
  readonly id: string;
  readonly startedAt: string;
  readonly submissionId: string;
  /** The calls it had not run. */
  readonly leftOver: readonly RunnableCallItem[];
  /** The source of outside content that it has read, null if none. Undefined if unknown, which counts as outside. */
  readonly outsideSource: string | null | undefined;
}

/** Continues a turn that was waiting for an approval. */
export async function continueTurn(context: ConversationContext, open: OpenTurn, signal: AbortSignal): Promise<void> {
  const { id: turnId, submissionId, leftOver, outsideSource = "a turn of an earlier process" } = open;
  const turn = beginTurn(context, { turnId, submissionId, startedAt: new Date(open.startedAt), input: [] });
  if (outsideSource !== null) turn.noteOutside(outsideSource);
  // The current settings apply, not the recorded ones: a file must not grant rights.
  const request = { settings: context.cell.settings, outputSchema: recordedSchema(context.cell, turnId) };
  await runTurnToEnd(context, turn, request, { leftOver }, signal);
}

function beginTurn(
  { cell, publish }: ConversationContext,
  turn: ConstructorParameters<typeof ActiveTurn>[0],
): ActiveTurn {
  cell.turn = new ActiveTurn(turn, (change) => publish({ type: "mirror", change }, turn.submissionId));
  return cell.turn;
}

/** A file may contain an invalid schema. */
function recordedSchema({ state }: ConversationCell, turnId: string): OutputSchema | undefined {
  const { turn_id, final_output_json_schema: schema } = state.turnContext ?? {};
  return turn_id === turnId ? OutputSchema.optional().safeParse(schema).data : undefined;
}

/** The inputs of every request of a turn. */
interface TurnRequest {
  readonly settings: Settings;
  readonly outputSchema: OutputSchema | undefined;
}

async function runTurnToEnd(
  context: ConversationContext,
  turn: ActiveTurn,
  request: TurnRequest,
  first: FirstCalls,
  signal: AbortSignal,
): Promise<void> {
  const { cell, recording } = context;
  const { settings } = request;
  const id = turn.submissionId;
  const spentBefore = cell.state.usage?.cost?.total_usd ?? 0;
  for (const message of await context.refreshInstructions(settings, signal)) {
    context.publish({ type: "warning", message }, id);
  }
  publishPrompt(context, id);
  warnUnpriced(context, settings, id);
  // All conversations of a folder wait for the same read and would continue together.
  await yieldFairly("continue");
  using budget = new TurnBudget(context.limits, signal);
  const calls = new TurnCalls(context, turn, settings, budget);
  const compaction = new AutoCompaction(context, settings, id);
  await context.servers?.ready(budget.signal);
  const steps: StepContext = {
    state: cell.state,
    provider: context.provider(settings),
    retry: context.retry,
    gate: modelCallGate(context, settings, budget),
    budget,
    price: context.price(settings),
    request: () => modelRequest(context, request),
    recordSteered: () => recordSteered(context, turn, settings, signal),
    compactIfDue: () => compaction.compactIfDue("request", budget.signal),
    compactAfterOverflow: () => compaction.compactAfterOverflow(budget.signal),
    learn: (before, items, usage) => compaction.learn(before, items, usage),
    estimates: context.compaction.estimates,
    record: (line) => recording.line(line, id),
    publish: (msg) => context.publish(msg, id),
    eventRoom: () => context.eventRoom(),
    runCalls: (waiting) => calls.run(waiting),
  };
  let end = await runSteps(steps, turn, first, signal);
  const stopHooks = new StopHooks(context, settings, id);
  while (end.status === "completed" && first.userCall === undefined) {
    const reason = await stopHooks.reasonToContinue(end.lastAgentMessage, budget.signal);
    if (reason === undefined) break;
    recording.line({ type: "response_item", payload: hookMessage(reason) }, id);
    end = await runSteps(steps, turn, noCalls, signal);
  }
  await calls.end();
  // A later interrupt comes too late: the line that ends the turn is written without a pause.
  const finalEnd: TurnEnd = signal.aborted ? { status: "aborted" } : end;
  if (finalEnd.status === "failed") {
    const { reached } = budget;
    if (reached !== undefined && finalEnd.failure.code === "limit_reached") {
      const { key, limit, used } = reached;
      context.publish({ type: "turn_limit_reached", setting: `turnLimits.${key}`, limit, used }, id);
    }
    context.publish({ type: "error", message: finalEnd.failure.message, codex_error_info: finalEnd.failure.code }, id);
  }
  cell.previousSettings = settings;
  // The answer is complete: an interrupt from now on ends the compaction, not the turn.
  if (finalEnd.status === "completed") await compaction.compactIfDue("end", budget.signal);
  const spent = context.price(settings) === undefined ? undefined : cell.state.usage?.cost?.total_usd;
  const cost = spent === undefined ? {} : { cost_usd: Math.max(0, spent - spentBefore) };
  await recordEnd(recording, turn, finalEnd, { ...timesOf(turn, context.now()), ...cost });
}

/** Says once for each model that its cost cannot be limited. */
function warnUnpriced(context: ConversationContext, settings: Settings, id: string): void {
  const { cell, limits } = context;
  const { model } = settings;
  if (limits.cost === undefined || context.price(settings) !== undefined || cell.unpricedModel === model) return;
  cell.unpricedModel = model;
  const message =
    `The limit turnLimits.cost has no effect: the price of ${model} is unknown. ` +
    `Set models."${model}".price in the configuration to the dollars per million tokens`;
  context.publish({ type: "warning", message }, id);
}

/** Publishes the system prompt for the handle, if it has changed. */
function publishPrompt(context: ConversationContext, id: string): void {
  const { cell, publish } = context;
  const text = context.instructions(cell.settings);
  if (text === cell.prompt) return;
  cell.prompt = text;
  publish({ type: "mirror", change: { type: "prompt", text } }, id);
}

function recordStart({ recording }: ConversationContext, turn: ActiveTurn): void {
  const payload = { type: "task_started", turn_id: turn.turnId, started_at: seconds(turn.startedAt) } as const;
  recording.line({ type: "event_msg", payload }, turn.submissionId);
}

function recordContext(
  { recording, sessionSource }: ConversationContext,
  turn: ActiveTurn,
  { settings, outputSchema }: TurnRequest,
): void {
  const resumed = typeof sessionSource === "string" ? {} : { session_source: sessionSource };
  const context = { ...toTurnContext(settings, turn.turnId, outputSchema), ...resumed };
  recording.line({ type: "turn_context", payload: context }, turn.submissionId);
}

/** Records a message of the user, and what hooks add to it. */
function recordMessage(
  { recording }: ConversationContext,
  { submissionId: id, items, isRecorded, key }: QueuedInput,
  hookTexts: readonly string[],
): void {
  const images = items.flatMap((item) => (item.type === "image" ? [item.image_url] : []));
  const content = inputContent(items);
  recording.line({ type: "response_item", payload: { type: "message", role: "user", content } }, id);
  const submission = isRecorded ? { submission_id: id, ...(key === undefined ? {} : { key }) } : {};
  const message = { type: "user_message", message: inputText(items), images, ...submission } as const;
  recording.line({ type: "event_msg", payload: message }, id);
  for (const text of hookTexts) recording.line({ type: "response_item", payload: hookMessage(text) }, id);
}

/** Records the messages that the user has added to the turn; those of an aborted turn are left for the next one. */
async function recordSteered(
  context: ConversationContext,
  turn: ActiveTurn,
  settings: Settings,
  signal: AbortSignal,
): Promise<boolean> {
  const { steered } = context.cell;
  let isAny = false;
  for (let input = steered[0]; input !== undefined && !signal.aborted; input = steered[0]) {
    const { submissionId, items, isOutside } = input;
    const outcome = await promptHooks(context, { submissionId, input: items }, settings, signal);
    // A shutdown may have refused it meanwhile.
    if (signal.aborted || steered[0] !== input) break;
    steered.shift();
    if ("block" in outcome) {
      context.publish(blockedMsg(outcome.block), submissionId);
      continue;
    }
    if (isOutside) turn.noteOutside("the message");
    recordMessage(context, input, outcome.contexts);
    isAny = true;
  }
  return isAny;
}

function blockedMsg(reason: string): Extract<EventMsg, { type: "error" }> {
  const message = `the message was not sent, because a hook blocked it: ${reason}`;
  return { type: "error", message, codex_error_info: "aborted" };
}

function modelRequest(context: ConversationContext, request: TurnRequest): ModelRequest {
  const { settings, outputSchema } = request;
  const { cell } = context;
  const facts = context.facts(settings);
  const instructions = context.instructions(settings);
  return {
    conversationId: context.conversationId,
    model: settings.model,
    instructions,
    input: newestTurns(cell.state.history, context.maxTurns).filter((item) => !isSystemPrompt(item, instructions)),
    tools: [...offeredTools(context, cell.state.history)],
    effort: settings.effort,
    ...(facts === undefined ? {} : { facts }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}

/**
 * Whether an item is the system prompt, which a caller may have put into the history from `getInitialContext()`. The
 * prompt is sent anyway; the date in it is ignored, because it changes on its own.
 */
function isSystemPrompt(item: ResponseItem, instructions: string): boolean {
  return (
    item.type === "message" && item.role === "developer" && withoutDate(messageText(item)) === withoutDate(instructions)
  );
}

function withoutDate(prompt: string): string {
  return prompt.replace(/^Date: .*$/m, "");
}

interface TurnFacts extends ReturnType<typeof timesOf> {
  readonly cost_usd?: number;
}

function timesOf(turn: ActiveTurn, now: Date) {
  return {
    turn_id: turn.turnId,
    started_at: seconds(turn.startedAt),
    completed_at: seconds(now),
    duration_ms: Math.max(1, now.getTime() - turn.startedAt.getTime()),
  };
}

async function recordEnd(recording: Recording, turn: ActiveTurn, end: TurnEnd, facts: TurnFacts): Promise<void> {
  const id = turn.submissionId;
  switch (end.status) {
    case "completed": {
      turn.status = { status: "completed" };
      const truncated = end.isTruncated ? { truncated: true } : {};
      return recording.end(
        { type: "task_complete", last_agent_message: end.lastAgentMessage, ...truncated, ...facts },
        id,
      );
    }
    case "failed": {
      const error = { message: end.failure.message, codex_error_info: end.failure.code };
      turn.status = { status: "failed", error: error.message };
      recording.closeCalls(`not finished: ${error.message}`, id);
      return recording.end({ type: "task_complete", last_agent_message: end.lastAgentMessage, error, ...facts }, id);
    }
    case "aborted":
      turn.status = { status: "cancelled" };
      recording.closeCalls("aborted by the user", id);
      recording.noteAbort(id);
      return recording.end({ type: "turn_aborted", reason: "interrupted", ...facts }, id);
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** Makes the requests of a turn wait for the provider's limits. */
function modelCallGate(context: ConversationContext, { provider }: Settings, budget: TurnBudget): ModelCallGate {
  const { gate, conversationId, compaction } = context;
  const { estimates } = compaction;
  const tokensOf = ({ instructions, input }: ModelRequest): number =>
    estimates.ofText(instructions) + estimates.sumOf(input);
  return {
    enter: (request) => {
      const enter = () => gate.enter({ provider, conversationId, tokens: () => tokensOf(request) }, budget.signal);
      // The time budget is paused, because other requests cause the wait.
      return gate.isLimited(provider) ? budget.whilePaused(enter) : enter();
    },
    noteFailure: (failure) => gate.noteFailure(provider, failure),
  };
}
