import { isContextMessage } from "../../../base/codex/context-message.js";
import { InvalidInputError } from "../../../base/errors.js";
import { countedItem } from "../../../compaction/tokens/estimate-tokens.js";
import type { CompactionPreview, ContextUsage, ItemKind, ItemSize } from "../../../messages/compaction.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { SummaryOutcome } from "../../compactor/compactor.js";
import { offeredTools } from "../conversation-context.js";
import { strategyProblem } from "../turn/between-turns.js";
import { planCompaction, type PlanContext, ContextSize, chooseStrategy, summaryRequest } from "./plan-compaction.js";

const maxChars = 80;

/** Returns the model's current context, item by item, counted exactly where possible. */
export async function contextUsage(context: PlanContext): Promise<ContextUsage> {
  const { parts, cell } = context;
  const { settings, state } = cell;
  await countAll(context);
  const size = new ContextSize(parts, cell, settings);
  const { instructions, tools } = size.overhead;
  const items = [
    { kind: "instructions", tokens: instructions, text: firstLine(parts.instructions(settings)) },
    {
      kind: "tools",
      tokens: tools,
      text: offeredTools(parts, state.history)
        .map(({ name }) => name)
        .join(", ")
        .slice(0, maxChars),
    },
    ...state.history.map((item) => sizeOf(item, size)),
  ] satisfies ItemSize[];
  return { ...windowOf(context), model: settings.model, tokens: size.active, items };
}

/** Returns what a compaction would keep and drop, without asking a model. */
export async function previewCompaction(
  context: PlanContext,
  strategy: string | undefined,
): Promise<CompactionPreview> {
  const problem = strategyProblem(context, strategy);
  if (problem !== undefined) throw new InvalidInputError(problem);
  await countAll(context);
  const planning = planCompaction(context, context.cell.settings, { strategy });
  const { plan, size, history } = planning;
  const items = plan.build("");
  const remaining = new Set(items);
  const { window, limit } = windowOf(context);
  return {
    strategy: planning.strategy.name,
    tokensBefore: size.active,
    tokensAfter: size.whole(items),
    window,
    limit,
    kept: items.map((item) => sizeOf(item, size)),
    dropped: history.filter((item) => !remaining.has(item)).map((item) => sizeOf(item, size)),
  };
}

async function countAll({ parts, cell }: PlanContext): Promise<void> {
  const op = { type: "count", items: [...cell.state.history], model: cell.settings.model } as const;
  await parts.compaction.compactor.ask(op).catch(() => undefined);
}

function windowOf({ parts, cell }: PlanContext): { window: number; isAssumedWindow: boolean; limit: number } {
  const { tokens, isAssumed } = parts.compaction.window(cell.settings);
  return { window: tokens, isAssumedWindow: isAssumed, limit: parts.compaction.limit(cell.settings) };
}

function sizeOf(item: ResponseItem, size: ContextSize): ItemSize {
  return { kind: kindOf(item), tokens: size.count(item), text: firstLine(countedItem(item).text) };
}

function firstLine(text: string): string {
  const line =
    text
      .trimStart()
      .slice(0, maxChars + 1)
      .split("\n", 1)[0] ?? "";
  return line.length > maxChars ? `${line.slice(0, maxChars - 1)}…` : line;
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

/** Asks the conversation's model for a summary of some items, without recording it. */
export async function summarizeItems(context: PlanContext, items: readonly ResponseItem[]): Promise<SummaryOutcome> {
  const { parts, cell } = context;
  const { settings } = cell;
  const plan = { toSummarize: items, previousSummary: undefined };
  const request = summaryRequest(context, chooseStrategy(parts, settings), plan, { settings });
  const summarizer = parts.compaction.summaryBy(settings);
  return await parts.compaction.compactor.ask({ type: "summarize", by: summarizer, request });
}
