import { isPrintable } from "../../base/text/conversation-name.js";
import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import type { SavedConversation } from "./named-conversations.js";

/** A shell offers no more names and ids than this. */
export const maxWords = 50;
const maxTitleChars = 60;

/**
 * The names and ids of the newest conversations for a completion script: a line for each, with a tab before its help
 * text. A word that could break a line or would be read as a flag is left out.
 */
export function wordLines(conversations: readonly SavedConversation[]): string {
  const rows = conversations.flatMap(({ id, name, title }) => {
    const about = shortened(visible(title ?? ""), maxTitleChars);
    return name === undefined
      ? [[id, about]]
      : [
          [name, about],
          [id, visible(name)],
        ];
  });
  return rows
    .filter(([word = ""]) => isPrintable(word) && !word.startsWith("-"))
    .slice(0, maxWords)
    .map((row) => `${row.join("\t")}\n`)
    .join("");
}
