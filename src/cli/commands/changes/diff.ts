import { chosenRollout } from "./chosen-rollout.js";
import { SavedChanges } from "./saved-changes.js";
import { noChanges, statText } from "../../terminal/stat-text.js";
import { leftOutLines, takenBackLines } from "./undo-text.js";
import { type CommandContext, printLine } from "../../context.js";
import { numberFlag } from "../../format/whole-number.js";

/** Prints the file changes of all turns of a conversation, or of one turn. */
export async function diffCommand(context: CommandContext): Promise<number> {
  const turn = numberFlag("--turn", context.flags.turn);
  const { places, rollout } = await chosenRollout(context);
  const changes = await SavedChanges.read(places, rollout, context.terminal.env);
  const tracker = changes.diff(turn);
  for (const line of leftOutLines(changes.leftOut(turn))) await context.tell(line.trim());
  const takenBack = changes.takenBack(turn);
  for (const line of takenBackLines(takenBack, changes.turns)) await context.tell(line);
  if (context.flags.json) await printLine(context, JSON.stringify({ id: rollout.id, ...tracker.turnDiff() }));
  else if (tracker.isEmpty) await context.tell(noChanges(turn, takenBack.length > 0));
  else if (context.flags.stat) await printLine(context, statText(tracker.files, tracker.getSummary()).join("\n"));
  else await context.terminal.stdout.writeExact(tracker.generateUnifiedDiff());
  return 0;
}
