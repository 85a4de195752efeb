import { resolve } from "node:path";
import { isDirectory } from "../../../base/fs/path-checks.js";
import { addRelink, readRelinks, type Relink, relinked } from "../../../config/project/relinks.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type CommandContext, printResult } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { savedConversations, isBelow, ProjectMembers } from "../../conversations/project-conversations.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";
import { visible } from "../../../base/text/visible.js";

/** Records the new path of a moved folder; without arguments, lists the folders that no longer exist. */
export async function relinkCommand(context: CommandContext): Promise<number> {
  const { cwd } = context.terminal;
  const [old, now] = context.args;
  const conversations = savedConversations(context, await loadPlaces(context));
  if (old === undefined) return await listMissingProjects(context, conversations);
  const relink = {
    from: resolve(cwd, old),
    to: now === undefined ? (await context.projectRoots()).root : resolve(cwd, now),
  };
  const relinks = await readRelinks(context.home);
  // The original folder, and the one it was last relinked to.
  const count = conversations.filter(
    (each) =>
      each.cwd !== undefined && [each.cwd, relinked(each.cwd, relinks)].some((folder) => isBelow(folder, relink.from)),
  ).length;
  await check(relink, count);
  await addRelink(context.home, relink);
  await printResult(context, {
    text: `✓ Relinked ${count} conversation(s)\n  From: ${relink.from}\n  To: ${relink.to}`,
    json: { ...relink, conversations: count },
  });
  return 0;
}

async function check({ from, to }: Relink, count: number): Promise<void> {
  if (isBelow(to, from)) throw usageError(`${to} is inside ${from}`);
  if (count === 0) {
    throw new CommandError(`No conversations found for ${from}`, exitCodes.failed, [
      "List missing folders: cody relink",
    ]);
  }
  if (await isDirectory(from)) {
    throw new CommandError(`${from} still exists, so its conversations cannot be relinked`, exitCodes.failed);
  }
  if (!(await isDirectory(to))) throw new CommandError(`${to} is not a folder`, exitCodes.failed);
}

async function listMissingProjects(
  context: CommandContext,
  conversations: readonly SavedConversation[],
): Promise<number> {
  const members = await ProjectMembers.open(context.home, (await context.projectRoots()).root);
  const missing = new Map<string, { conversations: number; isHere: boolean }>();
  for (const each of conversations) {
    if (each.cwd === undefined || (await members.folder(each.cwd)).isThere) continue;
    const found = missing.get(each.cwd) ?? { conversations: 0, isHere: false };
    const isHere = found.isHere || (await members.includes(each));
    missing.set(each.cwd, { conversations: found.conversations + 1, isHere });
  }
  const folders = [...missing].map(([folder, found]) => ({ folder, ...found }));
  const [first] = folders;
  const rows = folders.map(
    ({ folder, conversations: count, isHere }) =>
      `  ${visible(folder)}: ${count} conversation(s)${isHere ? ", belongs to this project" : ""}`,
  );
  const hint = `To set a new folder: ${quotedCommand(["cody", "relink", first?.folder ?? ""])} [new folder]`;
  const text = first === undefined ? "No folders are missing." : ["Missing folders:", ...rows, hint].join("\n");
  await printResult(context, { text, json: folders });
  return 0;
}
