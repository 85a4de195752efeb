import { type Excerpt, wordsIn } from "../../../rollouts/search/match-words.js";
import { visible } from "../../../base/text/visible.js";
import { type SearchHit, searchFiles } from "../../../rollouts/search/scan.js";
import { usageError } from "../../command-error.js";
import { type ContextOf, printLine } from "../../context.js";
import { fromIndexOrFiles, selectLibrary } from "./library.js";
import { localTime } from "../../format.js";
import type { TextPart } from "../../terminal/output.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";

const defaultLimit = 20;

/** Finds the conversations that contain all words, newest first, and prints excerpts. */
export async function searchCommand(context: ContextOf<"search">): Promise<number> {
  const { flags, terminal } = context;
  const words = wordsIn(context.args);
  if (words.length === 0) throw usageError("Missing search words");
  const limit = flags.limit ?? defaultLimit;
  const library = await selectLibrary(context);
  // Request one more than is shown, to know whether there are more.
  const found = await fromIndexOrFiles(context, library, {
    index: (index) => index.search(library.wanted, words, limit + 1),
    files: () => searchFiles(library.wanted, words, limit + 1),
  });
  const page = found.slice(0, limit);
  if (flags.json) {
    await printLine(context, JSON.stringify(page.map(({ conversation, excerpts }) => ({ ...conversation, excerpts }))));
    return 0;
  }
  // https://no-color.org: any non-empty value
  const isPlain = (terminal.env["NO_COLOR"] ?? "") !== "";
  await terminal.stdout.writeParts(partsOf(page, found.length > limit).map((part) => (isPlain ? plain(part) : part)));
  return 0;
}

function partsOf(found: readonly SearchHit<SavedConversation>[], hasMore: boolean): TextPart[] {
  if (found.length === 0) return [{ text: "No conversation contains all of these words.\n" }];
  const total = `Total: ${found.length} conversation(s)${hasMore ? "; for more, raise --limit" : ""}\n`;
  return [{ text: "Found in:\n\n" }, ...found.flatMap(entryParts), { text: total }];
}

function entryParts({ conversation, excerpts }: SearchHit<SavedConversation>): TextPart[] {
  const { id, name, title, cwd, updatedAt } = conversation;
  const facts = { Name: name, Title: title, Folder: cwd, Updated: localTime(updatedAt) };
  const lines = Object.entries(facts).flatMap(([label, value]) =>
    // A folder's name may contain anything, even line breaks.
    value === undefined ? [] : [`    ${label}: ${visible(value)}\n`],
  );
  return [{ text: `  ${id}\n${lines.join("")}` }, ...excerpts.flatMap(excerptParts), { text: "\n" }];
}

function excerptParts({ role, kind, tool, text, marks }: Excerpt): TextPart[] {
  const speaker = role === "user" ? "you" : role === "assistant" && kind === "message" ? "cody" : (tool ?? "tool");
  const parts: TextPart[] = [{ text: `    ${speaker}: ` }];
  let at = 0;
  for (const [from, to] of marks) {
    parts.push({ text: text.slice(at, from) }, { text: text.slice(from, to), isMarked: true });
    at = to;
  }
  return [...parts, { text: `${text.slice(at)}\n` }];
}

function plain({ text }: TextPart): TextPart {
  return { text };
}
