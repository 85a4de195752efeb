import { bareId, shownId } from "../../../base/text/conversation-id.js";
import type { ExportFacts } from "./survey.js";

/** Returns the facts about a conversation that a transcript lists. */
export function factRows(survey: ExportFacts): (readonly [label: string, value: string])[] {
  const { conversationId, provider, model, meta, usage, headings, toolCalls, compactions } = survey;
  const counts = [
    countText(headings.length, "turn"),
    countText(toolCalls, "tool call"),
    ...(compactions === 0 ? [] : [countText(compactions, "compaction")]),
  ];
  const rows = [
    ["Conversation", shownId(bareId(conversationId))],
    ["Begun", minuteOf(survey.createdAt)],
    ["Last change", minuteOf(survey.lastUpdated)],
    ["Model", [provider, model].filter((label) => label !== undefined).join(", ")],
    ["Folder", meta?.cwd ?? ""],
    ["Branch", meta?.git?.branch ?? ""],
    ["Length", counts.join(", ")],
    ["Tokens", usage === null ? "" : grouped(usage.total_token_usage.total_tokens)],
  ] as const;
  return rows.filter(([, value]) => value !== "");
}

export function countText(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** Formats a time to the minute, in UTC because the reader's time zone is unknown. */
export function minuteOf(timestamp: string): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return "";
  return `${date.toISOString().slice(0, "2026-11-17T13:05".length).replace("T", " ")} UTC`;
}

function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}
