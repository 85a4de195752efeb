import type { ResponseItem } from "../../messages/response-item.js";
import type { ToolSpec } from "../../messages/tool.js";
import { recall } from "../../tools/recall.js";
import type { TurnParts } from "./play-turn.js";

/** The tools as the model is told of them. `recall` is only worth its tokens when there is something to recall. */
export function offeredTools(
  { tools, toolSpecs }: Pick<TurnParts, "tools" | "toolSpecs">,
  history: readonly ResponseItem[],
): readonly ToolSpec[] {
  // A tool that somebody has put in its place is theirs.
  if (tools.get(recall.name) !== recall || history.some(isSummary)) return toolSpecs();
  return toolSpecs().filter(({ name }) => name !== recall.name);
}

function isSummary(item: ResponseItem): boolean {
  return item.type === "message" && item.summary === true;
}
