import { firstRatio, learnedRatio } from "../../../compaction/tokens/calibrate.js";
import { COMPACT_TARGET } from "../../../compaction/constants.js";
import type { TokenUsage } from "../../../messages/token-usage.js";
import type { Prepared } from "../../compactor/compactor.js";
import { compactHistory } from "./compact-history.js";
import type { CompactionWish } from "./compaction-request.js";
import { ContextSize } from "./context-size.js";
import { planCompaction, summaryRequest } from "./plan-compaction.js";
import type { Settings } from "../state/settings.js";
import type { TurnWorld } from "../turn/turn-world.js";

/** From this part of the limit on a summary is prepared: at 0.6 of the window, where it is used at 0.8. */
const prepareFrom = 0.75;
/** From this part of the limit on items are counted exactly: before that an estimate decides as well. */
const countFrom = 0.5;
/** So much of the window must have grown since the last compaction before another summary is prepared. */
const minGrowth = 0.1;
/** So much of the window must have grown since an attempt that came to nothing before there is another. */
const retryGrowth = 0.05;
const maxFailures = 3;
/** A prepared summary that leaves more than this part of the target as it is, is too old. */
const maxTail = 0.5;

/** Compacts the history of one turn's conversation when it must be, before the model would refuse it. */
export class AutoCompaction {
  readonly #world: TurnWorld;
  readonly #settings: Settings;
  readonly #submissionId: string;
  readonly #size: ContextSize;
  readonly #limit: number;
  readonly #window: number;

  constructor(world: TurnWorld, settings: Settings, submissionId: string) {
    this.#world = world;
    this.#settings = settings;
    this.#submissionId = submissionId;
    this.#size = new ContextSize(world.parts, world.cell, settings);
    this.#window = world.parts.compaction.window(settings).tokens;
    this.#limit = world.parts.compaction.limit(settings);
  }

  /** Before a request, and when a turn is over: then nobody waits for a summary that is being made beside the turns. */
  async whenDue(place: "request" | "end", signal: AbortSignal): Promise<void> {
    if (!this.#isOn) return;
    const { active } = this.#size;
    if (active <= this.#limit) this.#lookAhead(active);
    else if (this.#mayTry(active)) await this.#compact(active > this.#window && this.#mayWait(place), signal);
  }

  #mayWait(place: "request" | "end"): boolean {
    return place === "request" || !this.#isBackground;
  }

  /** A request was refused because it is too long; whether there is room now. */
  async makeRoom(signal: AbortSignal): Promise<boolean> {
    if (!this.#isOn) return false;
    const prepared = this.#usable(await this.#prepared(false, signal));
    const outcome = await compactHistory(
      this.#world,
      { ...this.#wish, trigger: "overflow", isUrgent: true, prepared },
      signal,
    );
    this.#note(outcome.status, this.#size.active);
    return outcome.status === "compacted";
  }

  /** What a provider says of a request corrects how its model is counted. */
  learn(
    before: { readonly tokens: number; readonly items: number } | undefined,
    items: number,
    usage: TokenUsage,
  ): void {
    const { parts, cell } = this.#world;
    if (before === undefined || cell.state.history.length < items) return;
    const { model } = this.#settings;
    const added = cell.state.history.slice(before.items, items);
    const counted = added.reduce((sum, item) => sum + parts.compaction.counts.of(item, model), 0);
    const known = cell.tokenRatio ?? firstRatio(model);
    cell.tokenRatio = learnedRatio(model, known, counted, usage.input_tokens - before.tokens);
  }

  get #isOn(): boolean {
    return this.#world.parts.compaction.settings.enabled;
  }

  get #isBackground(): boolean {
    return this.#world.parts.compaction.settings.mode === "background";
  }

  get #wish(): Omit<CompactionWish, "trigger" | "isUrgent"> {
    return { settings: this.#settings, submissionId: this.#submissionId, summarizer: this.#larger() };
  }

  /** The model before this one, when it takes what this one cannot. */
  #larger(): Settings | undefined {
    const { cell, parts } = this.#world;
    const { before } = cell;
    if (before === undefined || before.model === this.#settings.model) return undefined;
    return parts.compaction.window(before).tokens > this.#window ? before : undefined;
  }

  #mayTry(active: number): boolean {
    if (active > this.#window) return true;
    const { state, attempts } = this.#world.cell;
    if (state.compaction?.trigger === "undo" || attempts.failures >= maxFailures) return false;
    return attempts.stalledAt === 0 || active > attempts.stalledAt + this.#window * retryGrowth;
  }

  /** Urgent when the next request cannot be sent otherwise: then anything is better than the history. */
  async #compact(isUrgent: boolean, signal: AbortSignal): Promise<void> {
    let prepared: Prepared | undefined;
    // A strategy that needs no summary has nothing to prepare.
    if (this.#isBackground && planCompaction(this.#world, this.#settings, {}).plan.needsSummary) {
      const found = await this.#prepared(isUrgent, signal);
      if (found === "running") return;
      prepared = this.#usable(found);
      if (!isUrgent && (prepared === undefined || this.#isOld(prepared))) return this.#prepare(prepared);
    }
    if (!(await this.#isReallyDue(signal))) return;
    const outcome = await compactHistory(this.#world, { ...this.#wish, trigger: "auto", isUrgent, prepared }, signal);
    this.#note(outcome.status, this.#size.active);
  }

  /** An estimate may be wrong, and in a conversation that has just begun nothing can be left out. */
  async #isReallyDue(signal: AbortSignal): Promise<boolean> {
    const { parts, cell } = this.#world;
    const { counted, history } = cell.state;
    if (counted === undefined || counted.tokens <= this.#limit) {
      const op = { type: "count", items: history.slice(counted?.items ?? 0), model: this.#settings.model } as const;
      await parts.compaction.compactor.ask(op, signal).catch(() => undefined);
    }
    if (signal.aborted || this.#size.active <= this.#limit) return false;
    return planCompaction(this.#world, this.#settings, {}).plan.cut > 0;
  }

  #note(status: "compacted" | "kept" | "aborted", active: number): void {
    const { cell, publish } = this.#world;
    if (status === "aborted") return;
    this.#forget();
    if (status === "compacted") {
      cell.attempts = { failures: 0, stalledAt: active > this.#limit ? active : 0 };
      return;
    }
    cell.attempts = { failures: cell.attempts.failures + 1, stalledAt: active };
    if (cell.attempts.failures !== maxFailures) return;
    const message = `Compacting failed ${maxFailures} times, and is not tried again by itself. Try it with: /compact`;
    publish({ type: "warning", message }, this.#submissionId);
  }

  /** What will be needed is counted and summarized while the turn goes on. */
  #lookAhead(active: number): void {
    if (active <= this.#limit * countFrom) return;
    const { parts, cell } = this.#world;
    const { model } = this.#settings;
    const uncounted = parts.compaction.counts.uncounted(
      cell.state.history.slice(cell.state.counted?.items ?? 0),
      model,
    );
    if (uncounted.length > 0) this.#tell({ type: "count", items: uncounted, model });
    if (!this.#isBackground || active <= this.#limit * prepareFrom) return;
    if (cell.preparing !== undefined && this.#isThere(cell.preparing)) return;
    if (active - (cell.state.compaction?.tokens_after ?? 0) < this.#window * minGrowth) return;
    if (cell.state.compaction?.trigger !== "undo") this.#prepare(undefined);
  }

  /** With one that is too old, only what came after it is summarized, into it. */
  #prepare(old: Prepared | undefined): void {
    const { parts, cell, publish } = this.#world;
    const planning = planCompaction(this.#world, this.#settings, {});
    const { plan, history } = planning;
    const last = cell.state.history[plan.cut - 1];
    if (!plan.needsSummary || last === undefined || plan.cut <= (old?.cut ?? 0)) return;
    const extended =
      old?.outcome.status === "done"
        ? { ...plan, toSummarize: history.slice(old.cut, plan.cut), previousSummary: old.outcome.text }
        : plan;
    const request = summaryRequest(this.#world, planning.strategy, extended, this.#wish);
    const by = parts.compaction.summaryBy(this.#wish.summarizer ?? this.#settings);
    cell.preparing = { cut: plan.cut, last };
    this.#tell({ type: "prepare", conversationId: parts.conversationId, cut: plan.cut, last, by, request });
    publish(
      { type: "compaction_prepare", strategy: planning.strategy.name, estimated_tokens: planning.size.active },
      this.#submissionId,
    );
  }

  async #prepared(wait: boolean, signal: AbortSignal): Promise<Prepared | "running" | undefined> {
    const { compactor } = this.#world.parts.compaction;
    const { conversationId } = this.#world.parts;
    return await compactor.ask({ type: "prepared", conversationId, wait }, signal).catch(() => undefined);
  }

  /** Only for the history it was made of: the item in front of the cut is still there. */
  #usable(prepared: Prepared | "running" | undefined): Prepared | undefined {
    if (prepared === undefined || prepared === "running") return undefined;
    return this.#isThere(prepared) ? prepared : undefined;
  }

  #isThere({ cut, last }: Pick<Prepared, "cut" | "last">): boolean {
    return this.#world.cell.state.history[cut - 1] === last;
  }

  #isOld({ cut }: Prepared): boolean {
    return this.#size.sum(this.#world.cell.state.history, cut) > this.#window * COMPACT_TARGET * maxTail;
  }

  #forget(): void {
    const { cell, parts } = this.#world;
    if (cell.preparing === undefined) return;
    cell.preparing = undefined;
    this.#tell({ type: "forget", conversationId: parts.conversationId });
  }

  /** Nothing depends on it: a compactor that is gone only means that nothing is prepared. */
  #tell(op: Parameters<TurnWorld["parts"]["compaction"]["compactor"]["tell"]>[0]): void {
    void this.#world.parts.compaction.compactor.tell(op).catch(() => undefined);
  }
}
