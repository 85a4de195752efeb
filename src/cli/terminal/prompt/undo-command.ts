import { chooseRecord } from "../../../changes/restore/plan-restore.js";
import { endUnfinished } from "../../../changes/restore/restore.js";
import { ChangeFolder } from "../../../changes/workspace/change-folder.js";
import { changePlaces, SavedChanges } from "../../commands/changes/saved-changes.js";
import {
  obstacleLines,
  previewLines,
  remainingFolderLines,
  obstacleHint,
  recordText,
} from "../../commands/changes/undo-text.js";
import type { PromptConversation } from "./prompt-conversation.js";

const nothing = "No changes to undo.";

interface UndoDialog {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tell: (lines: readonly string[]) => Promise<void>;
  /** Absent if nobody can answer. */
  readonly ask: ((question: string) => Promise<string | undefined>) | undefined;
}

/** Previews undoing the last turn that changed files, asks, and does it. */
export async function confirmUndo(
  current: PromptConversation,
  { env, tell, ask }: UndoDialog,
  signal: AbortSignal,
): Promise<void> {
  const player = current.begun;
  const path = player?.conversation.rolloutPath ?? null;
  if (player === undefined || path === null) return await tell([nothing]);
  const { id } = player.conversation;
  const { places } = current.surroundings;
  await player.conversation.flush();
  const where = changePlaces(places, { id, path }, env);
  // No turn runs while a command is being answered.
  await endUnfinished(where, new ChangeFolder(where.folder), new Date());
  const { records, folder, turns } = await SavedChanges.read(places, { id, path }, env);
  const chosen = chooseRecord(records, folder.folder, ({ kind }) => kind === "turn");
  if (chosen === undefined) return await tell([nothing]);
  const { root, steps } = chosen.plan;
  const obstructed = steps.filter(({ obstacle }) => obstacle !== undefined);
  const ready = steps.filter(({ obstacle }) => obstacle === undefined);
  const head = `Undo of ${recordText(chosen.record, turns)} in ${root} would change:`;
  const preview = [head, ...previewLines(ready), ...obstacleLines(obstructed), ...remainingFolderLines(chosen.plan)];
  if (steps.length === 0)
    return await tell([head, "  Nothing to change: all files already have their earlier content."]);
  if (obstructed.length > 0) {
    const overwrite = `exit this conversation and run: cody undo ${id} --overwrite --yes`;
    const help = obstacleHint({ ...chosen.plan, steps: obstructed }, overwrite);
    return await tell([...preview, `Nothing was changed; the files above block the undo. ${help}`]);
  }
  if (ask === undefined) return await tell([...preview, `Nothing was changed. To apply: cody undo ${id} --yes`]);
  await tell(preview);
  const answer = await ask("Restore these files? y/n › ");
  if (!isYes(answer)) return await tell(["Nothing was changed."]);
  const { result } = await player.watch(player.conversation.undo(), signal);
  return await tell([`${result.success ? "✓" : "✗"} ${result.message}`]);
}

function isYes(answer: string | undefined): boolean {
  return ["y", "yes"].includes(answer?.trim().toLowerCase() ?? "");
}
