import { COMPACT_TARGET } from "../../../compaction/constants.js";
import { strategyFor } from "../../../compaction/strategy-for.js";
import type { CompactionPlan, CompactionStrategy } from "../../../compaction/strategy.js";
import { summaryInput } from "../../../compaction/summary/summary-input.js";
import { summaryPrompt } from "../../../compaction/summary/summary-prompt.js";
import { isCodexSummary } from "../../../base/codex/codex-summary.js";
import { type ResponseItem, messageText } from "../../../messages/response-item.js";
import type { SummaryRequest } from "../../compactor/summarizer.js";
import type { Settings } from "../state/settings.js";
import type { CompactionRequest } from "./compaction-request.js";
import { ContextSize } from "./context-size.js";
import type { TurnParts, ConversationContext } from "../turn/turn-world.js";

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
  asked: { readonly strategy?: string | undefined; readonly cut?: number; readonly isUrgent?: boolean },
): PlannedCompaction {
  const { settings: compaction } = parts.compaction;
  const strategy = chooseStrategy(parts, settings, asked.strategy);
  const size = new ContextSize(parts, cell, settings);
  const { instructions, tools } = size.overhead;
  // If a request was too long, the model's real window is smaller than we assume.
  const window = parts.compaction.window(settings).tokens;
  const room = asked.isUrgent === true ? Math.min(window, size.active) : window;
  const targetTokens = Math.max(Math.floor(room * COMPACT_TARGET) - instructions - tools, 1);
  const history = withMarkedSummaries(cell.state.history);
  const cut = asked.cut === undefined ? {} : { cut: asked.cut };
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
  asked?: string,
): CompactionStrategy {
  const name = asked ?? settings.strategy;
  const strategy = strategyFor(model, name, strategies);
  if (strategy === undefined) throw new Error(`unknown compaction strategy ${name}`);
  return strategy;
}

/** Builds the request for a summary. */
export function summaryRequest(
  { parts }: PlanContext,
  strategy: CompactionStrategy,
  plan: Pick<CompactionPlan, "toSummarize" | "previousSummary">,
  wish: Pick<CompactionRequest, "settings" | "summarizer" | "instructions">,
): SummaryRequest {
  const settings = wish.summarizer ?? wish.settings;
  return {
    conversationId: parts.conversationId,
    model: settings.model,
    instructions: parts.instructions(settings),
    items: summaryInput(plan.toSummarize),
    prompt: summaryPrompt({
      strategy,
      previousSummary: plan.previousSummary,
      instructions: wish.instructions,
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
