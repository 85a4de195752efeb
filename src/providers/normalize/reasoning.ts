import type { WireApi } from "../../messages/config.js";
import type { ReasoningItem } from "../../messages/response-item.js";
import { isReasoningModel } from "./reasoning-model.js";
import { type CustomItem, isCall, type SentItem } from "./sent-item.js";

/**
 * Whether the model can get this back: it is its own, over this API, and there is something in it. Responses keeps
 * nothing for us and Messages checks a signature, so there it goes back sealed or not at all.
 */
export function isOwnReasoning(item: ReasoningItem, api: WireApi, model: string): boolean {
  const { origin, encrypted_content: sealed } = item;
  if (origin !== undefined && (origin.api !== api || origin.model !== model)) return false;
  // Half of a character is no JSON to a server, and what is sealed must not be mended.
  if (!textsOf(item).every((text) => text.isWellFormed())) return false;
  switch (api) {
    case "responses":
      return Boolean(sealed) && isReasoningModel(model);
    case "messages":
      return Boolean(sealed) && origin !== undefined;
    case "chat":
      return sealed ? origin !== undefined : hasText(item);
    default:
      return api satisfies never;
  }
}

/** Reasoning belongs to what the model said or called behind it; without that the APIs refuse it. */
export function withoutLooseReasoning(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  let leadsTo = false;
  const kept = items.toReversed().filter((item) => {
    if (item.type === "reasoning") return leadsTo;
    leadsTo = isCall(item) || item.type === "web_search_call" || (item.type === "message" && item.role === "assistant");
    return true;
  });
  return kept.toReversed();
}

function hasText(item: ReasoningItem): boolean {
  return textsOf(item).some((text) => text.trim() !== "");
}

function textsOf({ summary, content }: ReasoningItem): string[] {
  return [...summary, ...(content ?? [])].map(({ text }) => text);
}
