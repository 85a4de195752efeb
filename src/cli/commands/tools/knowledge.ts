import { usageError } from "../../command-error.js";
import type { Command, ContextOf } from "../../context.js";
import { addToKnowledge, pruneKnowledge, removeFromKnowledge, undoKnowledge } from "./knowledge/change.js";
import { listKnowledge } from "./knowledge/list.js";
import { exportKnowledge, importKnowledge } from "./knowledge/move.js";

const actions: ReadonlyMap<string, Command<"knowledge">> = new Map([
  ["list", listKnowledge],
  ["add", addToKnowledge],
  ["undo", undoKnowledge],
  ["remove", removeFromKnowledge],
  ["prune", pruneKnowledge],
  ["export", exportKnowledge],
  ["import", importKnowledge],
]);

/** Runs a knowledge action for the current project; `list` is the default. */
export async function knowledgeCommand(context: ContextOf<"knowledge">): Promise<number> {
  const [name = "list", ...args] = context.args;
  const action = actions.get(name);
  if (action === undefined) throw usageError(`Unknown action '${name}'`, `Actions: ${[...actions.keys()].join(", ")}`);
  return await action({ ...context, args });
}
