import type { WireApi } from "../../messages/config.js";
import type { ReasoningItem, ResponseItem, MessageItem, ContentPart } from "../../messages/response-item.js";
import { type ApiRules, apiRules } from "./api-rules.js";
import { takesCustomTools } from "./custom-tools.js";
import { paired } from "./paired.js";
import { isOwnReasoning, withoutLooseReasoning } from "./reasoning.js";
import { sendable } from "./sendable.js";
import { type CustomItem, type SentItem, isCallOutput } from "./sent-item.js";

const moved: ContentPart = { type: "input_text", text: "[the image stands behind the outputs]" };

const opening = userMessage("[The beginning of this conversation is not shown.]");

const closing = userMessage("Go on.");

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

/** Messages begins and ends with the user: newer models refuse to go on with words put into their mouth. */
function withUserAtBothEnds(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  const [first, last] = [items.at(0), items.at(-1)];
  return [
    ...(first !== undefined && !isOfUser(first) ? [opening] : []),
    ...items,
    ...(last === undefined || !isOfUser(last) ? [closing] : []),
  ];
}

/** Whether the API counts it as said by the user, as it does with the outputs of tools. */
function isOfUser(item: SentItem | CustomItem): boolean {
  return item.type === "message" ? item.role !== "assistant" : item.type.endsWith("_output");
}

function userMessage(text: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

type Image = Extract<ContentPart, { type: "input_image" }>;

/** Where an output can hold no image, its images stand in a message of the user's behind the outputs they came with. */
function imagesBehindOutputs(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  const sent: (SentItem | CustomItem)[] = [];
  let images: Image[] = [];
  for (const item of items) {
    if (!isCallOutput(item)) endOutputs();
    const found = isCallOutput(item) && typeof item.output !== "string" ? item.output.filter(isImage) : [];
    images.push(...found);
    sent.push(found.length === 0 ? item : withoutImages(item));
  }
  endOutputs();
  return sent;

  function endOutputs(): void {
    if (images.length > 0) sent.push(imageMessage(images));
    images = [];
  }
}

function withoutImages<T extends SentItem | CustomItem>(item: T): T {
  if (!isCallOutput(item) || typeof item.output === "string") return item;
  return { ...item, output: item.output.map((part) => (isImage(part) ? moved : part)) };
}

function imageMessage(images: readonly Image[]): MessageItem {
  return { type: "message", role: "user", content: [...images] };
}

function isImage(part: ContentPart): part is Image {
  return part.type === "input_image";
}

/** An item that repeats the id of an earlier one goes without: Responses refuses two of one id, and needs none. */
function withoutDoubledIds(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  const seen = new Set<string>();
  return items.map((item) => {
    if (!("id" in item) || typeof item.id !== "string") return item;
    if (!seen.has(item.id)) {
      seen.add(item.id);
      return item;
    }
    const { id: _, ...rest } = item;
    return rest;
  });
}
