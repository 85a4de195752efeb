import { errorMessage } from "../../../base/error-message.js";
import { COMPACT_TARGET } from "../../../compaction/constants.js";
import { replacementItems } from "../../../compaction/build-compaction.js";
import { strategyName } from "../../../compaction/strategy-for.js";
import { firstRatio, learnedRatio } from "../../../compaction/tokens/estimate-tokens.js";
import type {
  CompactionNotes,
  CompactionOutcome,
  CompactionTrigger,
  SummarySource,
} from "../../../messages/compaction.js";
import type {
  CompactionResult,
  CompactorEvent,
  CompactorOp,
  ModelTarget,
  PlanAnswer,
  SummaryOptions,
} from "../../../messages/actors/compactor.js";
import { messageText, type ResponseItem } from "../../../messages/response-item.js";
import { noTokens, type TokenUsage } from "../../../messages/token-usage.js";
import { yieldToLoop } from "../../runtime/scheduler.js";
import type { ConversationContext } from "../conversation-context.js";
import type { ConversationCell } from "../state/live-state.js";
import type { Settings } from "../state/settings.js";
import { usageInfo } from "../turn/turn-budget.js";
import { compactionBlock } from "../turn/turn-hooks.js";
import { ContextSize, historyRequest } from "./context-size.js";

/** Above this fraction of the limit a summary is prepared: at 0.6 of the window, for use at 0.8. */
const prepareFrom = 0.75;
/** Above this fraction of the limit items are counted exactly; below it an estimate is good enough. */
const countFrom = 0.5;
/** The history must have grown by this fraction of the window since the last compaction before a summary is prepared. */
const minGrowth = 0.1;
/** The history must have grown by this fraction of the window since a failed attempt before the next one. */
const retryGrowth = 0.05;
const maxFailures = 3;
/** A prepared summary is too old if the items after its cut exceed this fraction of the target. */
const maxTail = 0.5;

const shownChars = 200;

const compressionFailed = "Compression failed, conversation may hit limits soon";

type Planned = Extract<PlanAnswer, { status: "planned" }>;
type Preparation = NonNullable<ConversationCell["preparation"]>;

/** A request for a compaction. */
interface CompactionRequest {
  readonly trigger: Exclude<CompactionTrigger, "undo">;
  readonly settings: Settings;
  readonly submissionId: string;
  /** The settings of the summarizing model, if it is not the turn's own. */
  readonly summarizer?: Settings | undefined;
  readonly strategy?: string | undefined;
  /** The user's instructions for the summary. */
  readonly instructions?: string | undefined;
  /** The next request cannot be sent otherwise, so an extracted summary is used if the model makes none. */
  readonly isUrgent: boolean;
  /** Uses the prepared summary, and waits for it if it is still being made. */
  readonly usesPrepared: boolean;
  /** The plan, if the compactor was already asked for it. */
  readonly plan?: Planned | undefined;
}

/** Decides in a turn when the history is compacted, before the model would reject it. */
export class AutoCompaction {
  readonly #context: ConversationContext;
  readonly #settings: Settings;
  readonly #submissionId: string;
  readonly #size: ContextSize;
  readonly #limit: number;
  readonly #window: number;

  constructor(context: ConversationContext, settings: Settings, submissionId: string) {
    this.#context = context;
    this.#settings = settings;
    this.#submissionId = submissionId;
    this.#size = new ContextSize(context, settings);
    this.#window = context.compaction.window(settings).tokens;
    this.#limit = context.compaction.limit(settings);
  }

  /**
   * Called before a request and at the end of a turn; at the end it does not wait for a summary that is being prepared.
   */
  async compactIfDue(place: "request" | "end", signal: AbortSignal): Promise<void> {
    if (!this.#isOn) return;
    const { active } = this.#size;
    if (active <= this.#limit) await this.#prepareAhead(active, signal);
    else if (this.#canTry(active)) await this.#compact(active > this.#window && this.#canWait(place), signal);
  }

  #canWait(place: "request" | "end"): boolean {
    return place === "request" || !this.#isBackground;
  }

  /** Called when a request was rejected as too long; returns whether there is room now. */
  async compactAfterOverflow(signal: AbortSignal): Promise<boolean> {
    if (!this.#isOn) return false;
    const usesPrepared = this.#preparation?.status === "ready";
    const request = { ...this.#request, trigger: "overflow", isUrgent: true, usesPrepared } as const;
    const outcome = await compactHistory(this.#context, request, signal);
    this.#note(outcome.status);
    return outcome.status === "compacted";
  }

  /** Corrects the token ratio of the model with the usage that the provider reported for a request. */
  learn(
    before: { readonly tokens: number; readonly items: number } | undefined,
    items: number,
    usage: TokenUsage,
  ): void {
    const context = this.#context;
    const { cell } = context;
    if (before === undefined || cell.state.history.length < items) return;
    const { model } = this.#settings;
    const ours = cell.counted;
    const isExact = ours?.generation === cell.generation && ours.from === before.items && ours.items === items;
    const added = cell.state.history.slice(before.items, items);
    const counted = isExact ? ours.added : added.reduce((sum, item) => sum + context.compaction.estimates.of(item), 0);
    const known = cell.tokenRatio ?? firstRatio(model);
    cell.tokenRatio = learnedRatio(model, known, counted, usage.input_tokens - before.tokens);
  }

  get #isOn(): boolean {
    return this.#context.compaction.settings.enabled;
  }

  get #isBackground(): boolean {
    return this.#context.compaction.settings.mode === "background";
  }

  get #request(): Pick<CompactionRequest, "settings" | "submissionId" | "summarizer"> {
    return { settings: this.#settings, submissionId: this.#submissionId, summarizer: this.#largerModel() };
  }

  /** The preparation for the current history. */
  get #preparation(): Preparation | undefined {
    const { preparation, generation } = this.#context.cell;
    return preparation?.generation === generation ? preparation : undefined;
  }

  /** Returns the previous model's settings if its context window is larger. */
  #largerModel(): Settings | undefined {
    const context = this.#context;
    const { cell } = context;
    const { previousSettings: before } = cell;
    if (before === undefined || before.model === this.#settings.model) return undefined;
    return context.compaction.window(before).tokens > this.#window ? before : undefined;
  }

  #canTry(active: number): boolean {
    if (active > this.#window) return true;
    const { state, attempts } = this.#context.cell;
    if (state.compaction?.trigger === "undo" || attempts.failures >= maxFailures) return false;
    return attempts.stalledAt === 0 || active > attempts.stalledAt + this.#window * retryGrowth;
  }

  /** Urgent when the next request cannot be sent otherwise: then even an extracted summary is acceptable. */
  async #compact(isUrgent: boolean, signal: AbortSignal): Promise<void> {
    const isWaiting = (): boolean => this.#isBackground && !isUrgent && this.#preparation?.status === "running";
    if (isWaiting()) return;
    const plan = await askForPlan(this.#context, { ...this.#request, isUrgent, isMeasured: true }, signal);
    if (signal.aborted || isWaiting()) return;
    if (plan.status === "planned" && (plan.tokensBefore <= this.#limit || plan.cut === 0)) return;
    // A strategy without a summary has nothing to prepare.
    const isPrepared = this.#isBackground && plan.status === "planned" && plan.needsSummary;
    if (isPrepared && !isUrgent && !this.#hasFreshSummary()) return await this.#prepare(signal);
    const request = {
      ...this.#request,
      trigger: "auto",
      isUrgent,
      usesPrepared: isPrepared,
      plan: plan.status === "planned" ? plan : undefined,
    } as const;
    const outcome = await compactHistory(this.#context, request, signal);
    this.#note(outcome.status);
  }

  #hasFreshSummary(): boolean {
    const preparation = this.#preparation;
    if (preparation?.status !== "ready") return false;
    const tail = this.#size.sum(this.#context.cell.state.history, preparation.cut);
    return tail <= this.#window * COMPACT_TARGET * maxTail;
  }

  #note(status: CompactionOutcome["status"]): void {
    const context = this.#context;
    const { cell, publish } = context;
    if (status === "aborted") return;
    const { active } = this.#size;
    if (cell.preparation !== undefined) {
      cell.preparation = undefined;
      tellCompactor(this.#context, { type: "forget", conversationId: context.conversationId });
    }
    if (status === "compacted") {
      cell.attempts = { failures: 0, stalledAt: active > this.#limit ? active : 0 };
      return;
    }
    cell.attempts = { failures: cell.attempts.failures + 1, stalledAt: active };
    if (cell.attempts.failures !== maxFailures) return;
    const message = `Compaction failed ${maxFailures} times, so automatic compaction is off. To try again: /compact`;
    publish({ type: "warning", message }, this.#submissionId);
  }

  /** Counts items and prepares a summary while the turn continues. */
  async #prepareAhead(active: number, signal: AbortSignal): Promise<void> {
    if (active <= this.#limit * countFrom) return;
    const { cell } = this.#context;
    if (!this.#size.isCounted) {
      tellCompactor(this.#context, { type: "count", ...(await historyRequest(this.#context, this.#settings)) });
    }
    if (!this.#isBackground || active <= this.#limit * prepareFrom || this.#preparation !== undefined) return;
    if (active - (cell.state.compaction?.tokens_after ?? 0) < this.#window * minGrowth) return;
    if (cell.state.compaction?.trigger !== "undo") await this.#prepare(signal);
  }

  /** Waits only for the plan; the end of the summary is an event. */
  async #prepare(signal: AbortSignal): Promise<void> {
    const context = this.#context;
    const { cell, publish } = context;
    const request = await historyRequest(this.#context, this.#settings);
    const { generation } = request;
    const summary = summaryOptions(this.#context, this.#request);
    const begun = await context.compaction.compactor
      .ask({ type: "prepare", ...request, summary }, signal)
      .catch(() => null);
    if (begun === null) return;
    const { strategy, cut, tokens } = begun;
    const isEnded = cell.preparation?.generation === generation && cell.preparation.cut === cut;
    if (!isEnded) cell.preparation = { generation, cut, status: "running" };
    publish({ type: "compaction_prepare", strategy, estimated_tokens: tokens }, this.#submissionId);
  }
}

function startCompactionThreads(
  context: ConversationContext,
  { settings, summarizer }: Pick<CompactionRequest, "settings" | "summarizer">,
): void {
  tellCompactor(context, { type: "start_threads", model: settings.model, target: modelTarget(summarizer ?? settings) });
}

/** Notes what the compactor has found out about the history, unless the history was replaced since. */
export function noteCompactorEvent(
  cell: Pick<ConversationCell, "generation" | "counted" | "preparation">,
  event: CompactorEvent,
): void {
  const { generation } = event;
  if (generation !== cell.generation) return;
  if (event.type === "counted") cell.counted = event;
  else cell.preparation = { generation, cut: event.cut, status: event.type === "prepared" ? "ready" : "failed" };
}

/**
 * Replaces the history with a shorter one, or keeps it. Every `compaction_start` it publishes is followed by a
 * `compaction_end`.
 */
export async function compactHistory(
  context: ConversationContext,
  request: CompactionRequest,
  signal: AbortSignal,
): Promise<CompactionOutcome> {
  const { publish } = context;
  const { trigger, submissionId } = request;
  if (!request.usesPrepared) startCompactionThreads(context, request);
  const plan = request.plan ?? (await askForPlan(context, request, signal));
  if (signal.aborted && plan.status === "failed") return { status: "aborted" };
  const block = await compactionBlock(context, request, signal);
  if (block !== undefined) return blockedByHook(context, block, submissionId);
  const { strategy, tokensBefore: estimated } = plan.status === "planned" ? plan : unplanned(context, request);
  publish({ type: "compaction_start", trigger, strategy, estimated_tokens: estimated }, submissionId);
  const outcome = await tryToCompact(context, request, plan, signal);
  const { tokensBefore, tokensAfter, summary } =
    outcome.status === "compacted" ? outcome : { tokensBefore: estimated, tokensAfter: estimated, summary: "" };
  publish(
    {
      type: "compaction_end",
      outcome: outcome.status,
      tokens_before: tokensBefore,
      tokens_after: tokensAfter,
      summary: shortened(summary),
    },
    submissionId,
  );
  return outcome;
}

function blockedByHook({ publish }: ConversationContext, block: string, submissionId: string): CompactionOutcome {
  const reason = `a hook blocked the compaction: ${block}`;
  publish({ type: "warning", message: `The history was not compacted: ${reason}` }, submissionId);
  return { status: "kept", reason };
}

function unplanned(
  context: ConversationContext,
  { settings, strategy }: CompactionRequest,
): Pick<Planned, "strategy" | "tokensBefore"> {
  const name = strategyName(settings.model, strategy ?? context.compaction.settings.strategy);
  return { strategy: name, tokensBefore: new ContextSize(context, settings).active };
}

async function tryToCompact(
  context: ConversationContext,
  request: CompactionRequest,
  plan: PlanAnswer,
  signal: AbortSignal,
): Promise<CompactionOutcome> {
  const { cell, publish } = context;
  if (plan.status === "planned" && plan.cut === 0) return { status: "kept", reason: "nothing to compact yet" };
  const { generation } = cell;
  const { length } = cell.state.history;
  const result = plan.status === "failed" ? keptBy(plan.reason) : await askForCompaction(context, request, signal);
  await yieldToLoop("end");
  if (signal.aborted || result.status === "aborted") return { status: "aborted" };
  for (const message of result.warnings) publish({ type: "warning", message }, request.submissionId);
  if (result.status === "kept") return { status: "kept", reason: result.reason };
  // No turn adds items while a summary is made, but a caller may replace the history.
  if (cell.generation !== generation || cell.state.history.length !== length) {
    return { status: "kept", reason: "the history changed while it was summarized" };
  }
  const { trigger, submissionId } = request;
  const items = replacementItems(result, cell.state.history);
  recordCompaction(context, { ...result, trigger, items }, submissionId);
  const { strategy, tokensBefore, tokensAfter, summary, source, truncatedCount } = result;
  return { status: "compacted", strategy, tokensBefore, tokensAfter, summary, source, truncatedCount };
}

/** A failing compactor is reported as an outcome, because the history is unchanged. */
async function askForPlan(
  context: ConversationContext,
  request: Pick<CompactionRequest, "settings" | "strategy" | "isUrgent"> & { readonly isMeasured?: boolean },
  signal: AbortSignal,
): Promise<PlanAnswer> {
  const { settings, strategy, isUrgent, isMeasured } = request;
  const op = { type: "plan", ...(await historyRequest(context, settings)), strategy, isUrgent, isMeasured } as const;
  try {
    return await context.compaction.compactor.ask(op, signal);
  } catch (error) {
    return { status: "failed", reason: errorMessage(error) };
  }
}

async function askForCompaction(
  context: ConversationContext,
  request: CompactionRequest,
  signal: AbortSignal,
): Promise<CompactionResult> {
  const { settings, strategy, trigger, isUrgent, usesPrepared } = request;
  const { read_files: readFiles = [], modified_files: modifiedFiles = [] } = context.cell.state.compaction ?? {};
  const op = {
    type: "summarize",
    ...(await historyRequest(context, settings)),
    strategy,
    summary: summaryOptions(context, request),
    trigger,
    isUrgent,
    usesPrepared,
    files: { readFiles, modifiedFiles },
  } as const;
  try {
    return await context.compaction.compactor.ask(op, signal);
  } catch (error) {
    return signal.aborted ? { status: "aborted" } : keptBy(errorMessage(error));
  }
}

function keptBy(failure: string): Extract<CompactionResult, { status: "kept" }> {
  const reason = `${compressionFailed}: ${failure}`;
  return { status: "kept", reason, warnings: [reason] };
}

export function summaryOptions(
  context: ConversationContext,
  request: Pick<CompactionRequest, "settings" | "summarizer" | "instructions">,
): SummaryOptions {
  const settings = request.summarizer ?? request.settings;
  return {
    target: modelTarget(settings),
    systemPrompt: context.instructions(settings),
    instructions: request.instructions,
    maxBytes: context.limits.answerBytes,
  };
}

function modelTarget({ provider, model, api, baseUrl, login, effort }: Settings): ModelTarget {
  return { provider, model, api, baseUrl, login, effort };
}

/** Errors are ignored: without a compactor, nothing is counted or prepared. */
function tellCompactor(context: ConversationContext, op: CompactorOp): void {
  void context.compaction.compactor.tell(op).catch(() => undefined);
}

function shortened(summary: string): string {
  return summary.length > shownChars ? `${summary.slice(0, shownChars)}...` : summary;
}

interface RecordedCompaction {
  readonly trigger: CompactionTrigger;
  readonly strategy: string;
  readonly source: SummarySource;
  readonly items: readonly ResponseItem[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly truncatedCount: number;
  readonly files: { readonly readFiles: readonly string[]; readonly modifiedFiles: readonly string[] };
  /** The token usage of the summary. */
  readonly usage?: TokenUsage | undefined;
}

/**
 * A single line replaces the history, so a crash leaves the old or the new one; the lines after it only add details.
 */
export function recordCompaction(context: ConversationContext, result: RecordedCompaction, id: string): void {
  const { cell, recording } = context;
  const { items, tokensBefore, tokensAfter, files } = result;
  const notes: CompactionNotes = {
    trigger: result.trigger,
    strategy: result.strategy,
    source: result.source,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    items_before: cell.state.history.length,
    items_after: items.length,
    truncated_count: result.truncatedCount,
    read_files: [...files.readFiles],
    modified_files: [...files.modifiedFiles],
  };
  const message = items.flatMap((item) =>
    item.type === "message" && item.summary === true ? [messageText(item)] : [],
  );
  recording.line(
    { type: "compacted", payload: { message: message.at(-1) ?? "", replacement_history: [...items], cody: notes } },
    id,
  );
  const used = usageInfo(cell.state.usage, result.usage ?? noTokens, context.price(cell.settings));
  const info = { ...used, last_token_usage: { ...noTokens, total_tokens: tokensAfter } };
  recording.line({ type: "event_msg", payload: { type: "token_count", info } }, id);
  recording.line(
    {
      type: "event_msg",
      payload: { type: "context_compacted", old_token_count: tokensBefore, new_token_count: tokensAfter },
    },
    id,
  );
}
