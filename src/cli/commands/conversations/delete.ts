import { lstat } from "node:fs/promises";
import { TrashBin } from "../../../actors/retention/trash-bin.js";
import { type ConversationPlaces, namedDirectories } from "../../../config/paths.js";
import { ConversationNotFoundError } from "../../../base/errors.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { readHead } from "../../../rollouts/list/list.js";
import { readNames } from "../../../rollouts/list/names-and-pins.js";
import type { ConversationLabel } from "../../../rollouts/list/conversation-files.js";
import { cleanConversations, cleanedText } from "../maintenance/clean-conversations.js";
import { CommandError, exitCodes } from "../../command-error.js";
import { type CommandContext, printResult, currentTime } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import { describeError } from "../../describe-error.js";
import { findSavedRollout } from "../../conversations/choose-conversation.js";

/** Moves the named conversations into the trash. `undelete` restores them, so no confirmation is needed. */
export async function deleteCommand(context: CommandContext): Promise<number> {
  const places = await loadPlaces(context);
  const selected = await chosen(context, places);
  const result = await cleanConversations(context, places, selected);
  const text = cleanedText(result, { going: selected, pinned: [] }, {}).join("\n");
  await printResult(context, { text, json: result });
  return result.failures.length > 0 ? exitCodes.failed : 0;
}

/** Finds all conversations before any is moved: a typo must not leave half of the work done. */
async function chosen(
  context: CommandContext,
  places: ConversationPlaces,
): Promise<(RolloutName & ConversationLabel)[]> {
  const found = new Map<string, RolloutName & ConversationLabel>();
  const problems: unknown[] = [];
  for (const text of context.args) {
    try {
      const rollout = await findSavedRollout(context, text);
      found.set(rollout.path, { ...rollout, ...(await readLabel(places, rollout)) });
    } catch (error) {
      problems.push(await explained(context, places, error));
    }
  }
  if (problems.length === 0) return [...found.values()];
  if (context.args.length === 1) throw problems[0];
  const described = problems.map((problem) => describeError(problem));
  const unexpected = described.findIndex((each) => each.unexpected);
  if (unexpected !== -1) throw problems[unexpected];
  const messages = described.map(({ lines }) => lines.map((line) => line.replace(/^✗ |^ +/, "")));
  const hints = new Set(messages.flatMap(([, ...rest]) => rest));
  throw new CommandError("Nothing was deleted:", exitCodes.failed, [
    ...messages.flatMap(([problem = ""]) => problem),
    ...hints,
  ]);
}

/** The conversation's name, and its title from the head of the file. */
async function readLabel(
  places: ConversationPlaces,
  { id, path }: RolloutName,
): Promise<Omit<ConversationLabel, "id">> {
  const indexes = await Promise.all(namedDirectories(places).map(({ names }) => readNames(names)));
  const name = indexes.map((index) => index.get(id)?.name).find((each) => each !== undefined);
  const { title } = await readHead(path, (await lstat(path)).size);
  return { ...(name === undefined ? {} : { name }), ...(title === undefined ? {} : { title }) };
}

/** Reports a conversation that is already in the trash, instead of an unknown id. */
async function explained(context: CommandContext, places: ConversationPlaces, error: unknown): Promise<unknown> {
  if (!(error instanceof ConversationNotFoundError)) return error;
  const { conversationId: text } = error;
  await using bin = await TrashBin.open({
    places,
    env: context.terminal.env,
    now: () => new Date(currentTime(context)),
  });
  const isTrashed = (await bin.list()).some(({ id, name }) => id === text || name === text);
  if (!isTrashed) return error;
  const hint = `To restore it: cody undelete ${text}`;
  return new CommandError(`Conversation '${text}' is already in the trash`, exitCodes.failed, [hint]);
}
