import { chooseRollout } from "./chosen-rollout.js";
import { SavedChanges } from "./saved-changes.js";
import { noChanges, statText } from "../../terminal/change-text.js";
import { notStoredLines, undoneLines } from "./undo-text.js";
import { type ContextOf, printLine } from "../../context.js";

/** Prints the file changes of all turns of a conversation, or of one turn. */
export async function diffCommand(context: ContextOf<"diff">): Promise<number> {
  const { turn } = context.flags;
  const { places, rollout } = await chooseRollout(context);
  const changes = await SavedChanges.read(places, rollout, context.terminal.env);
  const tracker = changes.diff(turn);
  for (const line of notStoredLines(changes.leftOut(turn))) await context.tell(line.trim());
  const reverted = changes.reverted(turn);
  for (const line of undoneLines(reverted, changes.turns)) await context.tell(line);
  if (context.flags.json) await printLine(context, JSON.stringify({ id: rollout.id, ...tracker.turnDiff() }));
  else if (tracker.isEmpty) await context.tell(noChanges(turn, reverted.length > 0));
  else if (context.flags.stat) await printLine(context, statText(tracker.files, tracker.getSummary()).join("\n"));
  else await context.terminal.stdout.writeExact(tracker.generateUnifiedDiff());
  return 0;
}
