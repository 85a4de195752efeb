import { homePaths } from "../../../config/paths.js";
import { everyDirectory, isCodexs } from "../../../config/places.js";
import { findProjectRoot } from "../../../config/project/project.js";
import { counted } from "../../../base/text/counted.js";
import type { ConversationIndex, Library } from "../../../rollouts/index/conversation-index.js";
import { withIndex } from "../../../rollouts/index/with-index.js";
import type { CommandContext } from "../../context.js";
import { placesOf } from "../../conversations/conversation-directory.js";
import { ordered } from "./list-order.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { conversationsEverywhere, ofProject, savedConversations } from "../../conversations/project-conversations.js";
import { sinceOf } from "./since-flag.js";

/** All that is saved in some places, and what of it a command is to look at, newest first. */
export interface WantedLibrary extends Library<SavedConversation> {
  readonly wanted: readonly SavedConversation[];
}

/** More than this is not read into the index beside something else that somebody waits for. */
const maxBytesAtOnce = 8 * 1024 * 1024;

export async function wantedLibrary(context: CommandContext): Promise<WantedLibrary> {
  const { flags, home, terminal } = context;
  const since = sinceOf(flags.since, Date.now());
  const places = await placesOf(context);
  // Of Codex's directory only a part is listed, so what is not listed there is not gone.
  const listed = [places.directory, ...places.alsoListed.filter((directory) => !isCodexs(directory, places))];
  const directories = flags.all ? everyDirectory(home, places) : listed;
  const conversations = flags.all ? conversationsEverywhere(context, places) : savedConversations(context, places);
  const own = flags.project
    ? await ofProject(context, conversations, await findProjectRoot(terminal.cwd))
    : conversations;
  const young = own.filter(({ updatedAt }) => since === undefined || updatedAt >= since);
  return { directories, conversations, wanted: ordered(young, { name: "updated", after: undefined }) };
}

/** Asks the index, brought up to date, or else the files: both say the same. */
export async function fromIndexOrFiles<T>(
  context: CommandContext,
  library: WantedLibrary,
  ask: { readonly index: (index: ConversationIndex) => T; readonly files: () => T },
): Promise<T> {
  if (library.conversations.length === 0) return ask.files();
  const outcome = await withIndex({ path: homePaths(context.home).index }, (index) => {
    const { files, bytes } = index.stale(library);
    if (bytes > maxBytesAtOnce) return { unread: files.length };
    index.update(library);
    return { answer: ask.index(index) };
  });
  if (outcome.status === "used" && "answer" in outcome.value) return outcome.value.answer;
  const answer = ask.files();
  if (outcome.status === "used") {
    await context.tell(
      `Not in the index yet: ${counted(outcome.value.unread ?? 0, "conversation")}; with it this is quicker: cody index`,
    );
  } else if (outcome.status === "failed" || outcome.status === "newer") {
    await context.tell(`The index could not be used, so the files were read: ${outcome.reason}`);
  } else context.log("debug", `the files were read: ${outcome.reason}`);
  return answer;
}
