import { counted } from "../../../base/text/counted.js";
import type { PagerSource } from "../view/pager.js";
import { cleanLines, wrapText } from "../view/rows.js";
import type { ConversationState } from "./conversation-state.js";

/** The full outputs and thoughts of a conversation, for the pager. */
export function detailsSource({ details }: ConversationState): PagerSource {
  return {
    title: `Full output: ${counted(details.length, "output")}`,
    lines: ({ columns, theme }) => {
      if (details.length === 0) return ["There is no output yet."];
      return details.flatMap(({ title, text }) => {
        const head = cleanLines(title).flatMap((line) => wrapText(line, columns));
        const body =
          text === "" ? [theme.dim("(no output)")] : cleanLines(text).flatMap((line) => wrapText(line, columns));
        return [...head.map((line) => theme.heading(line)), ...body, ""];
      });
    },
  };
}
