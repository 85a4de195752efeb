import type { WireApi } from "../../messages/config.js";
import type { ReasoningItem, ResponseItem } from "../../messages/response-item.js";
import { type ApiRules, apiRules } from "./api-rules.js";
import { withUserAtBothEnds } from "./both-ends.js";
import { takesCustomTools } from "./custom-tools.js";
import { imagesBehindOutputs } from "./images-behind.js";
import { withoutDoubledIds } from "./item-ids.js";
import { paired } from "./paired.js";
import { isOwnReasoning, withoutLooseReasoning } from "./reasoning.js";
import { sendable } from "./sendable.js";
import type { CustomItem, SentItem } from "./sent-item.js";

/**
 * History as the API accepts it from this model, whatever happened to it: cut, resumed, or begun with another
 * provider. What is right already stays as it is, item by item; doing it twice changes nothing.
 */
export function normalized(
  api: Exclude<WireApi, "responses">,
  items: readonly ResponseItem[],
  model: string,
): SentItem[];
export function normalized(api: WireApi, items: readonly ResponseItem[], model: string): (SentItem | CustomItem)[];
export function normalized(api: WireApi, items: readonly ResponseItem[], model: string): (SentItem | CustomItem)[] {
  const rules = rulesFor(api, model);
  const sent = onlySendable(items, rules, (item) => isOwnReasoning(item, api, model));
  const inPairs = withoutDoubledIds(withoutLooseReasoning(paired(sent, rules.maxCallIdChars)));
  const whole = rules.imagesInOutputs ? inPairs : imagesBehindOutputs(inPairs);
  // No API answers to nothing.
  return rules.userAtBothEnds || whole.length === 0 ? withUserAtBothEnds(whole) : whole;
}

function rulesFor(api: WireApi, model: string): ApiRules {
  const rules: ApiRules = apiRules[api];
  return rules.customTools && !takesCustomTools(model) ? { ...rules, customTools: false } : rules;
}

/** Reasoning stays or goes as the run it stands in, and goes with what it led to: part of it is a changed whole. */
function onlySendable(
  items: readonly ResponseItem[],
  rules: ApiRules,
  isOwn: (item: ReasoningItem) => boolean,
): (SentItem | CustomItem)[] {
  const sent: (SentItem | CustomItem)[] = [];
  let run: ReasoningItem[] = [];
  for (const item of items) {
    // A snapshot of files is nothing the model did, so it parts nothing.
    if (item.type === "ghost_snapshot") continue;
    if (item.type === "reasoning") {
      run.push(item);
      continue;
    }
    const taken = sendable(item, rules);
    if (taken !== undefined && run.every(isOwn)) sent.push(...run);
    if (taken !== undefined) sent.push(taken);
    run = [];
  }
  return sent;
}
