import type { ResponseItem } from "../../messages/response-item.js";
import type { Losses } from "./losses.js";

/** An item without what only its own model can read; nothing when there is nothing else in it. */
export function unsealed(item: ResponseItem, losses?: Losses): ResponseItem[] {
  if (item.type !== "reasoning" || typeof item.encrypted_content !== "string") return [item];
  // What comes from the API that Codex speaks is in its own words.
  if (item.origin === undefined || item.origin.api === "responses") return [item];
  losses?.count("signatures");
  const { encrypted_content: _, ...rest } = item;
  return rest.summary.length === 0 && (rest.content ?? []).length === 0 ? [] : [rest];
}
