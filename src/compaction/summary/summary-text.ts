import { summaryLabels } from "../../messages/codex-summary.js";
import { type MessageItem, messageText } from "../../messages/response-item.js";

/** Stands where no model gave a summary. */
export const SUMMARY_UNAVAILABLE = "(summary unavailable)";

const placeholders: readonly string[] = [SUMMARY_UNAVAILABLE, "(no summary available)"];

export function isPlaceholder(text: string): boolean {
  return placeholders.includes(text.trim());
}

export function summaryItem(label: string, summary: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text: label + summary }], summary: true };
}

/** What a summary says: neither its label nor its lists of files nor the word that there is none; undefined if that is all. */
export function summaryBody(item: MessageItem): string | undefined {
  const text = messageText(item);
  const label = Object.values(summaryLabels).find((known) => text.startsWith(known)) ?? "";
  return facts(withoutFileLists(text.slice(label.length)));
}

/** A text without the placeholder in front of it; undefined when nothing else was there. */
export function facts(text: string): string | undefined {
  const placeholder = placeholders.find((known) => text.trimStart().startsWith(known)) ?? "";
  return text.trimStart().slice(placeholder.length).trim() || undefined;
}

const fileHeading = /^## Files (?:Read|Modified)$/;

function withoutFileLists(text: string): string {
  let isInList = false;
  const lines = text.split("\n").filter((line) => {
    if (fileHeading.test(line)) isInList = true;
    else if (!line.startsWith("- ")) isInList = false;
    return !isInList;
  });
  return lines.join("\n");
}
