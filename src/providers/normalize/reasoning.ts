import type { WireApi } from "../../messages/config.js";
import type { ReasoningItem } from "../../messages/response-item.js";
import { type CustomItem, isCall, type SentItem } from "./sent-item.js";

/** Whether the model can get this back: it is its own, over this API, and there is something in it. */
export function isOwnReasoning(item: ReasoningItem, api: WireApi, model: string): boolean {
  const { origin } = item;
  const sealed = Boolean(item.encrypted_content);
  // Thinking goes back with its signature or not at all, and only ours says which model signed it.
  if (api === "messages") return sealed && origin?.api === api && origin.model === model;
  const foreign = origin === undefined ? sealed && api !== "responses" : origin.api !== api || origin.model !== model;
  return !foreign && (sealed || hasText(item));
}

/** Reasoning belongs to what the model said or called behind it; without that the APIs refuse it. */
export function withoutLooseReasoning(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  let leadsTo = false;
  const kept = items.toReversed().filter((item) => {
    if (item.type === "reasoning") return leadsTo;
    leadsTo = isCall(item) || (item.type === "message" && item.role === "assistant");
    return true;
  });
  return kept.toReversed();
}

function hasText({ summary, content }: ReasoningItem): boolean {
  return [...summary, ...(content ?? [])].some(({ text }) => text.trim() !== "");
}
