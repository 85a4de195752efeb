import { isCodexSummary } from "../base/codex/codex-summary.js";
import { isContextMessage } from "../base/codex/context-message.js";
import type { CompactionPreview, ItemKind, ItemSize } from "../messages/compaction.js";
import type { ContextFacts } from "../messages/actors/compactor.js";
import { messageText, type ResponseItem } from "../messages/response-item.js";
import { COMPACT_TARGET } from "./constants.js";
import {
  type Continuation,
  summaryRequest,
  type SummaryParts,
  type SummaryRequest,
} from "./summary/request-summary.js";
import type { CompactionPlan, CompactionStrategy, CountItem, StrategySettings } from "./strategy.js";
import { countedItem } from "./tokens/estimate-tokens.js";

/**
 * An estimate may be four times too low. If even four times the estimate is below every bound, exact counts are not
 * worth a tokenizer's memory.
 */
const worstEstimate = 4;

/** Each round counts what the plan of the round before has used; most plans are final after two or three. */
const maxRounds = 8;

const maxShownChars = 80;

/** The inputs of a plan besides the history and the strategy; plain data, except for the counting function. */
export interface PlanInput {
  readonly context: ContextFacts;
  readonly settings: StrategySettings;
  /** The token count of every item, by place. Without a count, the item is estimated. */
  readonly counts: readonly (number | undefined)[];
  /** The token count of an item without one. */
  readonly estimate: CountItem;
  /** The token count of a new item, if it is not estimated. */
  readonly countNew?: CountItem | undefined;
  readonly cut?: number | undefined;
  readonly isUrgent?: boolean | undefined;
}

/** A plan and its inputs; used for a compaction, a preview and a preparation alike. */
export interface PlannedCompaction {
  readonly strategy: CompactionStrategy;
  readonly plan: CompactionPlan;
  readonly size: ContextSize;
  readonly history: readonly ResponseItem[];
}

/** Plans a compaction of a history; with `cut`, of the items before it. */
export function planCompaction(
  items: readonly ResponseItem[],
  strategy: CompactionStrategy,
  input: PlanInput,
): PlannedCompaction {
  const { context, settings, cut, isUrgent = false } = input;
  const history = withMarkedSummaries(items);
  const size = new ContextSize(history, input);
  const room = isUrgent ? Math.min(context.window, size.active) : context.window;
  const targetTokens = Math.max(Math.floor(room * COMPACT_TARGET) - context.overhead, 1);
  const plan = strategy.plan({
    history,
    settings,
    targetTokens,
    count: size.count,
    ...(cut === undefined ? {} : { cut }),
  });
  return { strategy, plan, size, history };
}

/**
 * The numbers a plan must know exactly. `size`: whether the present history exceeds the limit. `result`: the new history, which
 * depends on the items that the strategy has measured and on those that stay.
 */
export type ExactPart = "size" | "result";

/**
 * Plans a compaction with exact counts where these parts depend on them. `addCounts` adds the counts of some places to
 * the input's, and returns false if it cannot. Most of a long history is dropped, so counting all of it would be a waste.
 */
export async function planExactly(
  items: readonly ResponseItem[],
  strategy: CompactionStrategy,
  input: PlanInput,
  parts: readonly ExactPart[],
  addCounts: (places: readonly number[]) => Promise<boolean>,
): Promise<PlannedCompaction> {
  for (let round = 1; ; round += 1) {
    const planned = planCompaction(items, strategy, input);
    const places = [...new Set(parts.flatMap((part) => estimatedPlaces[part](planned, input)))];
    if (places.length === 0 || round > maxRounds) return planned;
    const all = round === maxRounds ? [...items.keys()].filter((place) => input.counts[place] === undefined) : places;
    if (!(await addCounts(all))) return planned;
  }
}

/** Measures a part and returns the places of the items for which an estimate was used. */
const estimatedPlaces = {
  size: ({ history }, input) => {
    const size = new ContextSize(history, input);
    return size.active > 0 ? [...size.estimated] : [];
  },
  result: ({ plan, size }) => {
    size.whole(plan.build(""));
    return [...size.estimated];
  },
} satisfies Record<ExactPart, (planned: PlannedCompaction, input: PlanInput) => number[]>;

/** A plan in brief. */
export interface PlanFacts {
  readonly strategy: string;
  readonly cut: number;
  readonly needsSummary: boolean;
  readonly tokensBefore: number;
}

export function planFacts({ strategy, plan, size }: PlannedCompaction): PlanFacts {
  return { strategy: strategy.name, cut: plan.cut, needsSummary: plan.needsSummary, tokensBefore: size.active };
}

/** Builds the request for the summary of a plan; one that continues an earlier summary has only the items after it. */
export function summaryRequestOf(
  { strategy, plan, history }: PlannedCompaction,
  parts: SummaryParts,
  continues?: Continuation,
): SummaryRequest {
  const items = continues && {
    toSummarize: history.slice(continues.from, plan.cut),
    previousSummary: continues.summary,
  };
  return summaryRequest(strategy, items ?? plan, parts);
}

/** Returns what a compaction would keep and drop. */
export function previewOf(
  { strategy, plan, size, history }: PlannedCompaction,
  context: ContextFacts,
): CompactionPreview {
  const items = plan.build("");
  const remaining = new Set(items);
  const { window, limit } = context;
  return {
    strategy: strategy.name,
    tokensBefore: size.active,
    tokensAfter: size.whole(items),
    window,
    limit,
    kept: items.map((item) => sizeOf(item, size.count)),
    dropped: history.filter((item) => !remaining.has(item)).map((item) => sizeOf(item, size.count)),
  };
}

/** Measures a request with this history. */
export class ContextSize {
  readonly #history: readonly ResponseItem[];
  readonly #context: ContextFacts;
  readonly #places: ReadonlyMap<ResponseItem, number>;
  readonly #counts: readonly (number | undefined)[];
  readonly #estimate: CountItem;
  readonly #countNew: CountItem;
  readonly #estimated = new Set<number>();

  constructor(
    history: readonly ResponseItem[],
    { context, counts, estimate, countNew = estimate }: Pick<PlanInput, "context" | "counts" | "estimate" | "countNew">,
  ) {
    this.#history = history;
    this.#context = context;
    this.#places = new Map(history.map((item, place) => [item, place]));
    this.#counts = counts;
    this.#estimate = estimate;
    this.#countNew = countNew;
  }

  /** The places of the items that were measured with an estimate. */
  get estimated(): ReadonlySet<number> {
    return this.#estimated;
  }

  /** The count is corrected by a ratio for models without a public tokenizer. */
  readonly count: CountItem = (item) => Math.ceil(this.#uncorrected(item) * this.#context.ratio);

  /**
   * Tokens of the next request: as the provider reported for the items it has seen, counted by us for later ones. Beyond
   * every limit estimates are good enough, because nothing depends on them.
   */
  get active(): number {
    const { reported, overhead, window, limit } = this.#context;
    const isReported = reported !== undefined && reported.items <= this.#history.length;
    const later = isReported ? this.#history.slice(reported.items) : this.#history;
    const before = isReported ? reported.tokens : overhead;
    const roughly = later.reduce((sum, item) => sum + this.#roughly(item), before);
    const enough = Math.max(window, limit);
    const isFarAbove = roughly / worstEstimate > enough;
    return later.reduceRight(
      (sum, item) => sum + (isFarAbove || sum > enough ? this.#roughly(item) : this.count(item)),
      before,
    );
  }

  /** Tokens of a request with another history. */
  whole(items: readonly ResponseItem[]): number {
    return items.reduce((sum, item) => sum + this.count(item), this.#context.overhead);
  }

  /** The size of every item. */
  get items(): ItemSize[] {
    return this.#history.map((item) => sizeOf(item, this.count));
  }

  /** Like `count`, for a sum that need not be exact. */
  #roughly(item: ResponseItem): number {
    const place = this.#places.get(item) ?? -1;
    return Math.ceil((this.#counts[place] ?? this.#estimate(item)) * this.#context.ratio);
  }

  #uncorrected(item: ResponseItem): number {
    const place = this.#places.get(item);
    if (place === undefined) return this.#countNew(item);
    const counted = this.#counts[place];
    if (counted === undefined) this.#estimated.add(place);
    return counted ?? this.#estimate(item);
  }
}

/** Whether a plan could depend on exact counts. */
export function needsExactCounts(
  items: readonly ResponseItem[],
  { context, settings, estimate }: Pick<PlanInput, "context" | "settings" | "estimate">,
): boolean {
  const { userMessageTokens, keepRecentTokens } = settings;
  const smallest = Math.min(userMessageTokens, keepRecentTokens, context.window * COMPACT_TARGET, context.limit);
  let tokens = 0;
  for (const item of items) {
    tokens += estimate(item) * context.ratio;
    if (tokens * worstEstimate > smallest) return true;
  }
  return false;
}

/** Marks Codex's summaries like ours; Codex recognizes them by their first words. */
function withMarkedSummaries(history: readonly ResponseItem[]): readonly ResponseItem[] {
  return history.some(isUnmarked)
    ? history.map((item) => (isUnmarked(item) ? { ...item, summary: true } : item))
    : history;
}

function isUnmarked(item: ResponseItem): item is Extract<ResponseItem, { type: "message" }> {
  return item.type === "message" && item.role === "user" && item.summary !== true && isCodexSummary(messageText(item));
}

function sizeOf(item: ResponseItem, count: CountItem): ItemSize {
  return { kind: kindOf(item), tokens: count(item), text: firstLine(countedItem(item).text) };
}

/** The first line of a text, for a list. */
export function firstLine(text: string): string {
  const start = text.trimStart().slice(0, maxShownChars + 1);
  const line = start.split("\n", 1)[0] ?? "";
  return line.length > maxShownChars ? `${line.slice(0, maxShownChars - 1)}…` : line;
}

function kindOf(item: ResponseItem): ItemKind {
  switch (item.type) {
    case "message":
      if (item.summary === true) return "summary";
      if (item.pinned === true) return "pinned";
      if (item.role === "assistant") return "assistant";
      return item.role === "user" && !isContextMessage(item) ? "user" : "context";
    case "reasoning":
      return "reasoning";
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "web_search_call":
    case "tool_search_call":
    case "image_generation_call":
      return "tool_call";
    case "function_call_output":
    case "custom_tool_call_output":
    case "tool_search_output":
      return "tool_output";
    case "compaction":
    case "compaction_summary":
    case "context_compaction":
      return "summary";
    default:
      return "other";
  }
}
