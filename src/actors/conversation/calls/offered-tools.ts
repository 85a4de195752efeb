import { isSummary, type ResponseItem } from "../../../messages/response-item.js";
import type { ToolSpec } from "../../../messages/tools/tool.js";
import { recall } from "../../../tools/recall.js";
import type { TurnParts } from "../turn/turn-world.js";

/** Returns the same list for the same tools, so that its tokens are counted only once. */
const withoutRecall = new WeakMap<readonly ToolSpec[], readonly ToolSpec[]>();

/** Returns the specs of the tools offered to the model. `recall` is offered only when there is something to recall. */
export function offeredTools(
  parts: Pick<TurnParts, "tool" | "toolSpecs">,
  history: readonly ResponseItem[],
): readonly ToolSpec[] {
  const all = parts.toolSpecs();
  // An injected tool that replaces `recall` is always offered.
  if (parts.tool(recall.name) !== recall || history.some(isSummary)) return all;
  const others = withoutRecall.get(all) ?? all.filter(({ name }) => name !== recall.name);
  withoutRecall.set(all, others);
  return others;
}
