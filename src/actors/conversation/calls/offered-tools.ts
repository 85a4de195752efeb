import { isSummary, type ResponseItem } from "../../../messages/response-item.js";
import type { ToolSpec } from "../../../messages/tool.js";
import { recall } from "../../../tools/recall.js";
import type { TurnParts } from "../turn/turn-world.js";

/** Always the same list for the same tools, so that its tokens are counted once. */
const withoutRecall = new WeakMap<readonly ToolSpec[], readonly ToolSpec[]>();

/** The tools as the model is told of them. `recall` is only worth its tokens when there is something to recall. */
export function offeredTools(
  parts: Pick<TurnParts, "tool" | "toolSpecs">,
  history: readonly ResponseItem[],
): readonly ToolSpec[] {
  const all = parts.toolSpecs();
  // A tool that somebody has put in its place is theirs.
  if (parts.tool(recall.name) !== recall || history.some(isSummary)) return all;
  const others = withoutRecall.get(all) ?? all.filter(({ name }) => name !== recall.name);
  withoutRecall.set(all, others);
  return others;
}
