import { InvalidInputError } from "../../../base/errors.js";
import { firstLine } from "../../../compaction/plan-compaction.js";
import type { CompactionPreview, ContextUsage } from "../../../messages/compaction.js";
import type { SummaryOutcome } from "../../../messages/actors/compactor.js";
import { FailureError } from "../../../messages/failure-error.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import { makeFailure } from "../../runtime/failures.js";
import { type ConversationContext, offeredTools } from "../conversation-context.js";
import { strategyProblem } from "../turn/between-turns.js";
import { summaryOptions } from "./compaction.js";
import { ContextSize, historyRequest } from "./context-size.js";

const maxToolChars = 80;

/** Returns the model's current context, item by item, counted exactly where possible. */
export async function contextUsage(context: ConversationContext): Promise<ContextUsage> {
  const { cell } = context;
  const { settings } = cell;
  const request = await historyRequest(context, settings);
  const answer = await context.compaction.compactor.ask({ type: "usage", ...request });
  if (answer.status === "failed") throw new FailureError(makeFailure("internal", answer.reason));
  const { instructions, tools } = new ContextSize(context, settings).overhead;
  const names = offeredTools(context, cell.state.history).map(({ name }) => name);
  const { model, window, isAssumedWindow, limit } = request.context;
  return {
    window,
    isAssumedWindow,
    limit,
    model,
    tokens: answer.tokens,
    items: [
      { kind: "instructions", tokens: instructions, text: firstLine(context.instructions(settings)) },
      { kind: "tools", tokens: tools, text: names.join(", ").slice(0, maxToolChars) },
      ...answer.items,
    ],
  };
}

/** Returns what a compaction would keep and drop, without asking a model. */
export async function previewCompaction(
  context: ConversationContext,
  strategy: string | undefined,
): Promise<CompactionPreview> {
  const problem = strategyProblem(context, strategy);
  if (problem !== undefined) throw new InvalidInputError(problem);
  const request = await historyRequest(context, context.cell.settings);
  const answer = await context.compaction.compactor.ask({ type: "preview", ...request, strategy });
  if (answer.status === "failed") throw new FailureError(makeFailure("internal", answer.reason));
  return answer.preview;
}

/** Asks the conversation's model for a summary of some items, without recording it. */
export async function summarizeItems(
  context: ConversationContext,
  items: readonly ResponseItem[],
): Promise<SummaryOutcome> {
  const { cell } = context;
  const summary = summaryOptions(context, { settings: cell.settings });
  const { conversationId } = context;
  return await context.compaction.compactor.ask({ type: "summarize_items", conversationId, items, summary });
}
