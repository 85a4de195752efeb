import type { ConversationPlaces } from "../config/places.js";
import { ConversationNotFoundError } from "../messages/errors.js";
import { findConversation } from "../rollouts/find-conversation.js";
import type { CommandContext } from "./context.js";
import { newestConversation } from "./project-conversations.js";
import type { Workspace } from "./workspace.js";

/** Which conversation a run goes on with; `why` says why it begins a new one though an old one was looked for. */
export type Choice = { readonly type: "resume"; readonly id: string } | { readonly type: "new"; readonly why?: string };

/** What the flags ask for; undefined when they leave it open. */
export async function chosenByFlags(context: CommandContext, workspace: Workspace): Promise<Choice | undefined> {
  const { flags } = context;
  const { key, places } = workspace;
  if (typeof flags.resume === "string") return { type: "resume", id: await wholeId(places, flags.resume) };
  if (flags.resume !== true && !flags.continue) return undefined;
  const id = await newestConversation(context, places, key.projectRoot);
  return id === undefined ? { type: "new", why: "No saved conversation in this project" } : { type: "resume", id };
}

/** The active conversation, if it is still there. */
export async function chosenByPointer(context: CommandContext, workspace: Workspace): Promise<Choice> {
  const id = await workspace.active();
  if (id === undefined) return { type: "new", why: "No active conversation" };
  try {
    return { type: "resume", id: await wholeId(workspace.places, id) };
  } catch (error) {
    // A directory that cannot be read must not stop a conversation either: it goes on unsaved.
    if (!(error instanceof ConversationNotFoundError))
      context.log("warn", `conversations unreadable: ${String(error)}`);
    return { type: "new", why: `Conversation ${id} is gone` };
  }
}

/** The id of what a person named. */
export async function wholeId({ directory, elsewhere }: ConversationPlaces, text: string): Promise<string> {
  return (await findConversation([directory, ...elsewhere], text)).id;
}
