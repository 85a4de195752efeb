import { type ItemOrigin, ReasoningItem, type ResponseItem } from "../../../messages/response-item.js";
import { thought } from "../lines/form-items.js";
import { type Fields, saidText, textOf } from "../import/fields.js";
import type { Losses } from "../import/losses.js";

/** What pi calls the APIs that cody speaks too. */
const apis: ReadonlyMap<unknown, ItemOrigin["api"]> = new Map([
  ["anthropic-messages", "messages"],
  ["openai-responses", "responses"],
  ["openai-codex-responses", "responses"],
  ["azure-openai-responses", "responses"],
  ["openai-completions", "chat"],
]);

/**
 * A thought. What only its model can read stays when it is known which model that is and over which API: nobody else
 * may get it back.
 */
export function entryThought(block: Fields, message: Fields, losses: Losses): ResponseItem | ResponseItem[] {
  const { thinking, signature, thinkingSignature } = block;
  const text = textOf(thinking) ?? "";
  const sealed = saidText(thinkingSignature) ?? saidText(signature);
  // Diligent does not say it, and speaks to Anthropic in one way only.
  const api = apis.get(message["api"] ?? (message["provider"] === "anthropic" ? "anthropic-messages" : undefined));
  const model = saidText(message["model"]);
  const origin = api === undefined || model === undefined ? undefined : { api, model };
  if (origin?.api === "responses" && sealed !== undefined) {
    const whole = wholeItem(sealed);
    if (whole !== undefined) return { ...whole, origin };
  }
  // With Chat Completions pi writes there which field the thought came in.
  if (origin?.api === "chat") return text === "" ? [] : { ...thought(text, undefined), origin };
  if (sealed !== undefined && origin?.api !== "messages") losses.count("signatures");
  if (sealed !== undefined && origin?.api === "messages") return sealedThought(block, { text, sealed, origin });
  return text === "" ? [] : thought(text, undefined);
}

function sealedThought(
  block: Fields,
  { text, sealed, origin }: { text: string; sealed: string; origin: ItemOrigin },
): ResponseItem {
  if (block["redacted"] === true) return { type: "reasoning", summary: [], encrypted_content: sealed, origin };
  return { ...thought(text, sealed), origin };
}

/** With the Responses API pi keeps the item itself. */
function wholeItem(text: string): ReasoningItem | undefined {
  try {
    return ReasoningItem.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
