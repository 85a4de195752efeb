import { isCodexSummary } from "../../../base/codex/codex-summary.js";
import { COMPACT_TARGET } from "../../../compaction/constants.js";
import { strategyFor } from "../../../compaction/strategy-for.js";
import type { CompactionPlan, CompactionStrategy } from "../../../compaction/strategy.js";
import { summaryInput, summaryPrompt } from "../../../compaction/summary/summary-prompt.js";
import { firstRatio } from "../../../compaction/tokens/estimate-tokens.js";
import type { CompactionTrigger } from "../../../messages/compaction.js";
import { type ResponseItem, messageText } from "../../../messages/response-item.js";
import type { ToolSpec } from "../../../messages/tools/tool.js";
import type { Prepared, SummaryRequest } from "../../compactor/compactor.js";
import type { TokenCounts } from "../../compactor/token-counts.js";
import type { ConversationCell } from "../state/live-state.js";
import type { Settings } from "../state/settings.js";
import { type TurnParts, type ConversationContext, offeredTools } from "../conversation-context.js";

/** Cached token counts; tools are described to every model in the same way. */
const toolTokens = new WeakMap<readonly ToolSpec[], number>();

/** The part of a turn's world that planning needs: it records and publishes nothing. */
export type PlanContext = Pick<ConversationContext, "parts" | "cell">;

/** A plan and its inputs; used for a compaction, a preview and a preparation alike. */
export interface PlannedCompaction {
  readonly strategy: CompactionStrategy;
  readonly plan: CompactionPlan;
  readonly size: ContextSize;
  readonly history: readonly ResponseItem[];
}

/** Plans a compaction of the current history; with `cut`, of the items before it. */
export function planCompaction(
  { parts, cell }: PlanContext,
  settings: Settings,
  request: { readonly strategy?: string | undefined; readonly cut?: number; readonly isUrgent?: boolean },
): PlannedCompaction {
  const { settings: compaction } = parts.compaction;
  const strategy = chooseStrategy(parts, settings, request.strategy);
  const size = new ContextSize(parts, cell, settings);
  const { instructions, tools } = size.overhead;
  // If a request was too long, the model's real window is smaller than we assume.
  const window = parts.compaction.window(settings).tokens;
  const room = request.isUrgent === true ? Math.min(window, size.active) : window;
  const targetTokens = Math.max(Math.floor(room * COMPACT_TARGET) - instructions - tools, 1);
  const history = withMarkedSummaries(cell.state.history);
  const cut = request.cut === undefined ? {} : { cut: request.cut };
  return {
    strategy,
    size,
    history,
    plan: strategy.plan({ history, settings: compaction, targetTokens, count: size.count, ...cut }),
  };
}

/** Returns the requested strategy, else the configured one, else the one for the model. */
export function chooseStrategy(
  { compaction: { strategies, settings } }: TurnParts,
  { model }: Settings,
  requested?: string,
): CompactionStrategy {
  const name = requested ?? settings.strategy;
  const strategy = strategyFor(model, name, strategies);
  if (strategy === undefined) throw new Error(`unknown compaction strategy ${name}`);
  return strategy;
}

/** Builds the request for a summary. */
export function summaryRequest(
  { parts }: PlanContext,
  strategy: CompactionStrategy,
  plan: Pick<CompactionPlan, "toSummarize" | "previousSummary">,
  options: Pick<CompactionRequest, "settings" | "summarizer" | "instructions">,
): SummaryRequest {
  const settings = options.summarizer ?? options.settings;
  return {
    conversationId: parts.conversationId,
    model: settings.model,
    instructions: parts.instructions(settings),
    items: summaryInput(plan.toSummarize),
    prompt: summaryPrompt({
      strategy,
      previousSummary: plan.previousSummary,
      instructions: options.instructions,
      custom: parts.compaction.settings.prompt,
    }),
    effort: settings.effort,
    facts: parts.facts(settings),
    maxBytes: parts.limits.answerBytes,
  };
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

/** A request for a compaction. */
export interface CompactionRequest {
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
  /** A summary of the beginning that was prepared earlier. */
  readonly prepared?: Prepared | undefined;
}

/** Tokens sent with every request besides the history. */
interface Overhead {
  readonly instructions: number;
  readonly tools: number;
}

/** Measures the context of a conversation in tokens. */
export class ContextSize {
  readonly #parts: TurnParts;
  readonly #cell: ConversationCell;
  readonly #settings: Settings;

  constructor(parts: TurnParts, cell: ConversationCell, settings: Settings) {
    this.#parts = parts;
    this.#cell = cell;
    this.#settings = settings;
  }

  /**
   * Tokens of the next request: as reported by the provider for the items it has seen, counted by us for later ones.
   */
  get active(): number {
    const { history, counted } = this.#cell.state;
    if (counted === undefined || counted.items > history.length) return this.whole(history);
    return counted.tokens + this.sum(history, counted.items);
  }

  /** Tokens of a request with another history. */
  whole(history: readonly ResponseItem[]): number {
    const { instructions, tools } = this.overhead;
    return instructions + tools + this.sum(history, 0);
  }

  get overhead(): Overhead {
    const instructions = this.#counts.ofText(this.#parts.instructions(this.#settings));
    return { instructions, tools: this.#toolTokens() };
  }

  /** The count is corrected by a ratio for models without a public tokenizer. */
  readonly count = (item: ResponseItem): number => Math.ceil(this.#counts.of(item, this.#settings.model) * this.#ratio);

  sum(items: readonly ResponseItem[], from: number): number {
    let tokens = 0;
    for (let index = from; index < items.length; index++) {
      const item = items[index];
      if (item !== undefined) tokens += this.count(item);
    }
    return tokens;
  }

  get #ratio(): number {
    if (this.#counts.isInjected) return 1;
    return this.#cell.tokenRatio ?? firstRatio(this.#settings.model);
  }

  get #counts(): TokenCounts {
    return this.#parts.compaction.counts;
  }

  #toolTokens(): number {
    const specs = offeredTools(this.#parts, this.#cell.state.history);
    const known = toolTokens.get(specs);
    if (known !== undefined) return known;
    const tokens = this.#counts.ofText(JSON.stringify(specs));
    toolTokens.set(specs, tokens);
    return tokens;
  }
}
