import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ConversationNotFoundError } from "../../base/errors.js";
import { type ConversationPlaces, namedDirectories } from "../../config/paths.js";
import { type ActiveConversation, readAllActive } from "../../config/project/active-conversation.js";
import { findById, findByIdOrName } from "../../rollouts/list/find-conversation.js";
import type { RolloutName } from "../../rollouts/list/layout-files.js";
import { rolloutId } from "../../rollouts/file/rollout-id.js";
import type { SettingFlag } from "../arguments/flag-table.js";
import { CommandError, exitCodes } from "../command-error.js";
import type { CommandContext, SharedContext } from "../context.js";
import type { Workspace, Target } from "../workspace.js";
import { loadPlaces } from "./conversation-places.js";
import { newestConversation, ProjectMembers } from "./project-conversations.js";

/** The conversation a run continues. `why` explains why a new one is started although an old one was looked for. */
export type Choice = ({ readonly type: "resume" } & Target) | { readonly type: "new"; readonly why?: string };

/** The conversation selected by flags; undefined if no flag selects one. */
export async function chooseByFlags(
  context: SharedContext<"resume" | "continue">,
  workspace: Workspace,
): Promise<Choice | undefined> {
  const { flags } = context;
  if (typeof flags.resume === "string") {
    return { type: "resume", ...(await findTarget(context, workspace.places, flags.resume)) };
  }
  if (flags.resume !== true && flags.continue !== true) return undefined;
  const id = await newestConversation(context, workspace.places, workspace.key.projectRoot);
  return id === undefined ? { type: "new", why: "No saved conversation in this project" } : { type: "resume", id };
}

/** The active conversation, if it still exists. */
export async function chooseActive(context: CommandContext, workspace: Workspace): Promise<Choice> {
  const active = (await workspace.active()) ?? (await activeBeforeMove(context, workspace));
  if (active === undefined) return { type: "new", why: "No active conversation" };
  const { id, path } = active;
  try {
    return { type: "resume", id: await resolveId(workspace.places, id) };
  } catch (error) {
    if (path !== undefined && (await isExistingFile(path))) return { type: "resume", id, path };
    // An unreadable directory must not prevent a conversation: it continues unsaved.
    if (!(error instanceof ConversationNotFoundError))
      context.log("warn", `conversations unreadable: ${String(error)}`);
    return { type: "new", why: `Conversation ${id} no longer exists` };
  }
}

/** The conversation that was active in this project before the project was moved or renamed. */
async function activeBeforeMove(
  context: CommandContext,
  { key, places }: Workspace,
): Promise<ActiveConversation | undefined> {
  const pointers = (await readAllActive(context.home)).filter((pointer) => pointer.key.directory === key.directory);
  const members = await ProjectMembers.open(context.home, key.projectRoot);
  // Checked in parallel: there is a pointer for every project, and almost none of the projects has moved.
  const isMember = await Promise.all(pointers.map((pointer) => members.mayInclude(pointer.key.projectRoot)));
  for (const { active, key: old } of pointers.filter((_, index) => isMember[index])) {
    const path = active.path ?? (await pathOf(places, active.id));
    if (path === undefined || !(await members.includes({ cwd: old.projectRoot, path }))) continue;
    await context.tell(`This project was in ${old.projectRoot}: continuing its conversation ${active.id}`);
    return active;
  }
  return undefined;
}

async function pathOf(places: ConversationPlaces, id: string): Promise<string | undefined> {
  return (await findById([places.directory, ...places.elsewhere], id).catch(() => undefined))?.path;
}

/** The target of a command that needs an existing conversation: the named one, else by flags, else the active one. */
export async function existingTarget(
  context: SharedContext<"resume" | "continue">,
  workspace: Workspace,
  named?: string,
): Promise<Target> {
  if (named !== undefined) return await findTarget(context, workspace.places, named);
  const choice = (await chooseByFlags(context, workspace)) ?? (await chooseActive(context, workspace));
  if (choice.type === "resume") return choice;
  throw new CommandError(choice.why ?? "No active conversation", exitCodes.failed, ["List available: cody list"]);
}

/** Finds a conversation by id, id prefix, name or file. A file is recognized by its suffix, which no id has. */
export async function findTarget(
  { terminal }: Pick<CommandContext, "terminal">,
  places: ConversationPlaces,
  text: string,
): Promise<Target> {
  if (!text.endsWith(".jsonl")) return { id: await resolveId(places, text) };
  const path = resolve(terminal.cwd, text);
  if (!(await isExistingFile(path))) throw new ConversationNotFoundError(text);
  const id = await rolloutId(await realpath(path));
  if (id === undefined)
    throw new CommandError(`${text} is not a conversation: its first line has no id`, exitCodes.failed);
  return { id, path };
}

async function resolveId(places: ConversationPlaces, text: string): Promise<string> {
  return (await findByIdOrName(namedDirectories(places), text)).id;
}

async function isExistingFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** Finds the rollout file of a conversation by id, name or file; by default the command's first argument. */
export async function findSavedRollout(
  context: SharedContext<SettingFlag | "codex">,
  text = context.args[0] ?? "",
): Promise<RolloutName> {
  const places = await loadPlaces(context);
  if (!text.endsWith(".jsonl")) return await findByIdOrName(namedDirectories(places), text);
  const { id, path = text } = await findTarget(context, places, text);
  return { id, path };
}
