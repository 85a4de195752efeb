import { firstRatio, learnedRatio } from "../../../compaction/tokens/estimate-tokens.js";
import { COMPACT_TARGET } from "../../../compaction/constants.js";
import type { TokenUsage } from "../../../messages/token-usage.js";
import type { Prepared } from "../../compactor/compactor.js";
import { compactHistory } from "./compact-history.js";
import { type CompactionRequest, planCompaction, summaryRequest, ContextSize } from "./plan-compaction.js";
import type { Settings } from "../state/settings.js";
import type { ConversationContext } from "../conversation-context.js";

/** Above this fraction of the limit a summary is prepared: at 0.6 of the window, for use at 0.8. */
const prepareFrom = 0.75;
/** Above this fraction of the limit items are counted exactly; below it an estimate is good enough. */
const countFrom = 0.5;
/**
 * The history must have grown by this fraction of the window since the last compaction before a summary is prepared.
 */
const minGrowth = 0.1;
/** The history must have grown by this fraction of the window since a failed attempt before the next one. */
const retryGrowth = 0.05;
const maxFailures = 3;
/** A prepared summary is too old if the items after its cut exceed this fraction of the target. */
const maxTail = 0.5;

/** Compacts the history of a turn's conversation when necessary, before the model would reject it. */
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
    this.#size = new ContextSize(context.parts, context.cell, settings);
    this.#window = context.parts.compaction.window(settings).tokens;
    this.#limit = context.parts.compaction.limit(settings);
  }

  /**
   * Called before a request and at the end of a turn; at the end it does not wait for a summary that is being prepared.
   */
  async compactIfDue(place: "request" | "end", signal: AbortSignal): Promise<void> {
    if (!this.#isOn) return;
    const { active } = this.#size;
    if (active <= this.#limit) this.#prepareAhead(active);
    else if (this.#canTry(active)) await this.#compact(active > this.#window && this.#canWait(place), signal);
  }

  #canWait(place: "request" | "end"): boolean {
    return place === "request" || !this.#isBackground;
  }

  /** Called when a request was rejected as too long; returns whether there is room now. */
  async compactAfterOverflow(signal: AbortSignal): Promise<boolean> {
    if (!this.#isOn) return false;
    const prepared = this.#usable(await this.#prepared(false, signal));
    const outcome = await compactHistory(
      this.#context,
      { ...this.#request, trigger: "overflow", isUrgent: true, prepared },
      signal,
    );
    this.#note(outcome.status, this.#size.active);
    return outcome.status === "compacted";
  }

  /** Corrects the token ratio of the model with the usage that the provider reported for a request. */
  learn(
    before: { readonly tokens: number; readonly items: number } | undefined,
    items: number,
    usage: TokenUsage,
  ): void {
    const { parts, cell } = this.#context;
    if (before === undefined || cell.state.history.length < items) return;
    const { model } = this.#settings;
    const added = cell.state.history.slice(before.items, items);
    const counted = added.reduce((sum, item) => sum + parts.compaction.counts.of(item, model), 0);
    const known = cell.tokenRatio ?? firstRatio(model);
    cell.tokenRatio = learnedRatio(model, known, counted, usage.input_tokens - before.tokens);
  }

  get #isOn(): boolean {
    return this.#context.parts.compaction.settings.enabled;
  }

  get #isBackground(): boolean {
    return this.#context.parts.compaction.settings.mode === "background";
  }

  get #request(): Omit<CompactionRequest, "trigger" | "isUrgent"> {
    return { settings: this.#settings, submissionId: this.#submissionId, summarizer: this.#largerModel() };
  }

  /** Returns the previous model's settings if its context window is larger. */
  #largerModel(): Settings | undefined {
    const { cell, parts } = this.#context;
    const { previousSettings: before } = cell;
    if (before === undefined || before.model === this.#settings.model) return undefined;
    return parts.compaction.window(before).tokens > this.#window ? before : undefined;
  }

  #canTry(active: number): boolean {
    if (active > this.#window) return true;
    const { state, attempts } = this.#context.cell;
    if (state.compaction?.trigger === "undo" || attempts.failures >= maxFailures) return false;
    return attempts.stalledAt === 0 || active > attempts.stalledAt + this.#window * retryGrowth;
  }

  /** Urgent when the next request cannot be sent otherwise: then even an extracted summary is acceptable. */
  async #compact(isUrgent: boolean, signal: AbortSignal): Promise<void> {
    let prepared: Prepared | undefined;
    // A strategy without a summary has nothing to prepare.
    if (this.#isBackground && planCompaction(this.#context, this.#settings, {}).plan.needsSummary) {
      const found = await this.#prepared(isUrgent, signal);
      if (found === "running") return;
      prepared = this.#usable(found);
      if (!isUrgent && (prepared === undefined || this.#isOld(prepared))) return this.#prepare(prepared);
    }
    if (!(await this.#isDueByExactCount(signal))) return;
    const outcome = await compactHistory(
      this.#context,
      { ...this.#request, trigger: "auto", isUrgent, prepared },
      signal,
    );
    this.#note(outcome.status, this.#size.active);
  }

  /** Checks with exact counts, because an estimate may be wrong, and that the plan can remove something. */
  async #isDueByExactCount(signal: AbortSignal): Promise<boolean> {
    const { parts, cell } = this.#context;
    const { counted, history } = cell.state;
    if (counted === undefined || counted.tokens <= this.#limit) {
      const op = { type: "count", items: history.slice(counted?.items ?? 0), model: this.#settings.model } as const;
      await parts.compaction.compactor.ask(op, signal).catch(() => undefined);
    }
    if (signal.aborted || this.#size.active <= this.#limit) return false;
    return planCompaction(this.#context, this.#settings, {}).plan.cut > 0;
  }

  #note(status: "compacted" | "kept" | "aborted", active: number): void {
    const { cell, publish } = this.#context;
    if (status === "aborted") return;
    this.#forget();
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
  #prepareAhead(active: number): void {
    if (active <= this.#limit * countFrom) return;
    const { parts, cell } = this.#context;
    const { model } = this.#settings;
    const uncounted = parts.compaction.counts.uncounted(
      cell.state.history.slice(cell.state.counted?.items ?? 0),
      model,
    );
    if (uncounted.length > 0) this.#tellCompactor({ type: "count", items: uncounted, model });
    if (!this.#isBackground || active <= this.#limit * prepareFrom) return;
    if (cell.preparing !== undefined && this.#isStillValid(cell.preparing)) return;
    if (active - (cell.state.compaction?.tokens_after ?? 0) < this.#window * minGrowth) return;
    if (cell.state.compaction?.trigger !== "undo") this.#prepare(undefined);
  }

  /** If there is an outdated summary, only the items after it are summarized, as its continuation. */
  #prepare(old: Prepared | undefined): void {
    const { parts, cell, publish } = this.#context;
    const planning = planCompaction(this.#context, this.#settings, {});
    const { plan, history } = planning;
    const last = cell.state.history[plan.cut - 1];
    if (!plan.needsSummary || last === undefined || plan.cut <= (old?.cut ?? 0)) return;
    const extended =
      old?.outcome.status === "done"
        ? { ...plan, toSummarize: history.slice(old.cut, plan.cut), previousSummary: old.outcome.text }
        : plan;
    const request = summaryRequest(this.#context, planning.strategy, extended, this.#request);
    const summarizer = parts.compaction.summaryBy(this.#request.summarizer ?? this.#settings);
    cell.preparing = { cut: plan.cut, last };
    this.#tellCompactor({
      type: "prepare",
      conversationId: parts.conversationId,
      cut: plan.cut,
      last,
      by: summarizer,
      request,
    });
    publish(
      { type: "compaction_prepare", strategy: planning.strategy.name, estimated_tokens: planning.size.active },
      this.#submissionId,
    );
  }

  async #prepared(wait: boolean, signal: AbortSignal): Promise<Prepared | "running" | undefined> {
    const { compactor } = this.#context.parts.compaction;
    const { conversationId } = this.#context.parts;
    return await compactor.ask({ type: "prepared", conversationId, wait }, signal).catch(() => undefined);
  }

  /** A prepared summary is valid only for the history it was made from: the item before the cut must be unchanged. */
  #usable(prepared: Prepared | "running" | undefined): Prepared | undefined {
    if (prepared === undefined || prepared === "running") return undefined;
    return this.#isStillValid(prepared) ? prepared : undefined;
  }

  #isStillValid({ cut, last }: Pick<Prepared, "cut" | "last">): boolean {
    return this.#context.cell.state.history[cut - 1] === last;
  }

  #isOld({ cut }: Prepared): boolean {
    return this.#size.sum(this.#context.cell.state.history, cut) > this.#window * COMPACT_TARGET * maxTail;
  }

  #forget(): void {
    const { cell, parts } = this.#context;
    if (cell.preparing === undefined) return;
    cell.preparing = undefined;
    this.#tellCompactor({ type: "forget", conversationId: parts.conversationId });
  }

  /** Errors are ignored: without a compactor, nothing is prepared. */
  #tellCompactor(op: Parameters<ConversationContext["parts"]["compaction"]["compactor"]["tell"]>[0]): void {
    void this.#context.parts.compaction.compactor.tell(op).catch(() => undefined);
  }
}
