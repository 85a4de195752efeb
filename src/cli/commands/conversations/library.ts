import { counted } from "../../../base/text/counted.js";
import { homePaths, everyDirectory, isCodexDirectory } from "../../../config/paths.js";
import type { ConversationIndex, Library } from "../../../rollouts/search/conversation-index.js";
import { withIndex } from "../../../rollouts/search/with-index.js";
import { usageError } from "../../command-error.js";
import type { SettingFlag } from "../../arguments/flag-table.js";
import type { CommandContext, SharedContext } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import {
  conversationsEverywhere,
  filterByProject,
  savedConversations,
} from "../../conversations/project-conversations.js";
import { sortConversations } from "./list-page.js";

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** All saved conversations of some places, and those the command asks for, newest first. */
interface SelectedLibrary extends Library<SavedConversation> {
  readonly wanted: readonly SavedConversation[];
}

/** If more bytes are missing from the index, a search reads the files instead of making the user wait. */
const maxBytesAtOnce = 8 * 1024 * 1024;

export async function selectLibrary(
  context: SharedContext<SettingFlag | "codex" | "since" | "all" | "project">,
): Promise<SelectedLibrary> {
  const { flags, home } = context;
  const since = parseSince(flags.since, Date.now());
  const places = await loadPlaces(context);
  // Only a part of Codex's directory is listed, so a conversation missing from the list may still exist.
  const listed = [places.directory, ...places.alsoListed.filter((directory) => !isCodexDirectory(directory, places))];
  const directories = flags.all === true ? everyDirectory(home, places) : listed;
  const conversations =
    flags.all === true ? conversationsEverywhere(context, places) : savedConversations(context, places);
  const own =
    flags.project === true
      ? await filterByProject(context, conversations, (await context.projectRoots()).root)
      : conversations;
  const young = own.filter(({ updatedAt }) => since === undefined || updatedAt >= since);
  return { directories, conversations, wanted: sortConversations(young, { name: "updated", after: undefined }) };
}

/** Answers from the updated index, or else from the files; both give the same result. */
export async function fromIndexOrFiles<T>(
  context: CommandContext,
  library: SelectedLibrary,
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
      `Not in the search index yet: ${counted(outcome.value.unread ?? 0, "conversation")}. For faster searches: cody index`,
    );
  } else if (outcome.status === "failed" || outcome.status === "newer") {
    await context.tell(`Cannot use the search index, reading the files instead: ${outcome.reason}`);
  } else context.log("debug", `the files were read: ${outcome.reason}`);
  return answer;
}

/** Parses `--since`: an age, a local date, or a timestamp. Returns milliseconds since 1970. */
export function parseSince(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ago = /^(\d{1,6})([mhdw])$/.exec(text);
  if (ago !== null) return now - Number(ago[1]) * unitMs[ago[2] as keyof typeof unitMs];
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  const time = day === null ? timeIn(text) : midnight(Number(day[1]), Number(day[2]), Number(day[3]));
  if (Number.isNaN(time))
    throw usageError(`--since: expected an age or a date like 7d, 12h or 2026-11-01, not '${text}'`);
  return time;
}

function timeIn(text: string): number {
  return /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
}

/** NaN for a date that does not exist. */
function midnight(year: number, month: number, day: number): number {
  const date = new Date(year, month - 1, day);
  return date.getMonth() === month - 1 && date.getDate() === day ? date.getTime() : Number.NaN;
}
