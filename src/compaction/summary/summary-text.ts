import { summaryLabels } from "../../base/codex/codex-summary.js";
import {
  type MessageItem,
  messageText,
  type ResponseItem,
  codexItems,
  type PlainItem,
} from "../../messages/response-item.js";

const border = /(?<=[.!?])\s+|\n+/;

const maxTextChars = 20_000;

/** Placeholder used when no model wrote a summary. */
export const SUMMARY_UNAVAILABLE = "(summary unavailable)";

const placeholders: readonly string[] = [SUMMARY_UNAVAILABLE, "(no summary available)"];

const fileHeading = /^## Files (?:Read|Modified)$/;

export function isPlaceholder(text: string): boolean {
  return placeholders.includes(text.trim());
}

export function summaryItem(label: string, summary: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text: label + summary }], summary: true };
}

/** Returns a summary's text without its label, file lists and placeholder, or undefined if nothing else is left. */
export function summaryBody(item: MessageItem): string | undefined {
  const text = messageText(item);
  const label = Object.values(summaryLabels).find((known) => text.startsWith(known)) ?? "";
  return facts(withoutFileLists(text.slice(label.length)));
}

/** Removes a leading placeholder; undefined if nothing else is left. */
export function facts(text: string): string | undefined {
  const placeholder = placeholders.find((known) => text.trimStart().startsWith(known)) ?? "";
  return text.trimStart().slice(placeholder.length).trim() || undefined;
}

function withoutFileLists(text: string): string {
  let isInList = false;
  const lines = text.split("\n").filter((line) => {
    if (fileHeading.test(line)) isInList = true;
    else if (!line.startsWith("- ")) isInList = false;
    return !isInList;
  });
  return lines.join("\n");
}

/**
 * Splits a text into sentences, each on one line. Only the first `maxTextChars` are read, because users paste huge
 * texts.
 */
export function sentencesOf(text: string): string[] {
  return text
    .slice(0, maxTextChars)
    .split(border)
    .map((sentence) => sentence.replace(/^[-*>\s]+/, "").trim())
    .filter((sentence) => sentence !== "");
}

/** Puts a text on one line and shortens it to `maxChars`. */
export function shortened(text: string, maxChars: number): string {
  const line = text
    .slice(0, 2 * maxChars)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > maxChars
    ? `${line
        .slice(0, maxChars - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`
    : line;
}

/** Builds the Codex-style history: initial context, then the user's messages, then one summary item. */
export function buildCompactedHistory(
  initialContext: readonly (ResponseItem | PlainItem)[],
  userMessages: readonly string[],
  summary: string,
): ResponseItem[] {
  const messages = userMessages.map((text): ResponseItem => ({
    type: "message",
    role: "user",
    content: [{ type: "input_text", text }],
  }));
  return [...codexItems(initialContext), ...messages, summaryItem(summaryLabels.codex, summary)];
}
