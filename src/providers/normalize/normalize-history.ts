import { interruptedOutput } from "../../base/codex/interrupted-output.js";
import { memoizeByObject } from "../../base/memoize.js";
import type { WireApi } from "../../messages/settings/config.js";
import type { ReasoningItem, ResponseItem, MessageItem, ContentPart } from "../../messages/response-item.js";
import { type ApiRules, apiRules, supportsCustomTools, isReasoningModel } from "./api-rules.js";
import {
  convertItem,
  type CustomItem,
  type SentItem,
  isCallOutput,
  type Call,
  type CallOutput,
  isSentCall,
} from "./convert-item.js";

const moved: ContentPart = { type: "input_text", text: "[the image follows the outputs]" };

const opening = userMessage("[The beginning of this conversation is not shown.]");

const closing = userMessage("Go on.");

/** The rules for models without tools that take plain text. */
const withoutCustomTools: ApiRules = { ...apiRules.responses, customTools: false };

/** The conversion by some rules. Items do not change, and every request has the whole history, so it is remembered. */
const converterBy = memoizeByObject((rules: ApiRules) =>
  memoizeByObject((item: ResponseItem) => convertItem(item, rules)),
);

/**
 * Converts the history to a form that the API accepts from this model, even if it was truncated, resumed, or begun with
 * another provider. Valid items are kept as the same objects; normalizing twice changes nothing.
 */
export function normalizeHistory(
  api: Exclude<WireApi, "responses">,
  items: readonly ResponseItem[],
  model: string,
): SentItem[];
export function normalizeHistory(
  api: WireApi,
  items: readonly ResponseItem[],
  model: string,
): (SentItem | CustomItem)[];
export function normalizeHistory(
  api: WireApi,
  items: readonly ResponseItem[],
  model: string,
): (SentItem | CustomItem)[] {
  const rules = rulesFor(api, model);
  const sent = onlySendable(items, rules, (item) => isOwnReasoning(item, api, model));
  const inPairs = removeDuplicateIds(withoutLooseReasoning(paired(sent, rules.maxCallIdChars)));
  const withImages = rules.imagesInOutputs ? inPairs : moveImagesAfterOutputs(inPairs);
  // No API accepts an empty input.
  return rules.userAtBothEnds || withImages.length === 0 ? withUserAtBothEnds(withImages) : withImages;
}

function rulesFor(api: WireApi, model: string): ApiRules {
  const rules: ApiRules = apiRules[api];
  return rules.customTools && !supportsCustomTools(model) ? withoutCustomTools : rules;
}

/**
 * A run of reasoning items is kept or dropped as a whole, and is dropped together with the item it led to: the APIs
 * treat a partial run as modified.
 */
function onlySendable(
  items: readonly ResponseItem[],
  rules: ApiRules,
  isOwn: (item: ReasoningItem) => boolean,
): (SentItem | CustomItem)[] {
  const sent: (SentItem | CustomItem)[] = [];
  let run: ReasoningItem[] = [];
  const convert = converterBy(rules);
  for (const item of items) {
    // A snapshot of files is not an action of the model, so it does not end a run.
    if (item.type === "ghost_snapshot") continue;
    if (item.type === "reasoning") {
      run.push(item);
      continue;
    }
    const converted = convert(item);
    if (converted !== undefined && run.every(isOwn)) sent.push(...run);
    if (converted !== undefined) sent.push(converted);
    run = [];
  }
  return sent;
}

/** The Messages API requires the user's turn first and last: newer models refuse to continue a prefilled answer. */
function withUserAtBothEnds(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  const [first, last] = [items.at(0), items.at(-1)];
  return [
    ...(first !== undefined && !isOfUser(first) ? [opening] : []),
    ...items,
    ...(last === undefined || !isOfUser(last) ? [closing] : []),
  ];
}

/** Whether the API counts the item as the user's, as it does with tool outputs. */
function isOfUser(item: SentItem | CustomItem): boolean {
  return item.type === "message" ? item.role !== "assistant" : item.type.endsWith("_output");
}

function userMessage(text: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

type Image = Extract<ContentPart, { type: "input_image" }>;

/** Where an output cannot contain images, they move to a user message after the outputs they belong to. */
function moveImagesAfterOutputs(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
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

/** Removes an id that repeats an earlier one: the Responses API rejects duplicates and does not need ids. */
function removeDuplicateIds(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
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

/** Adjacent calls, which the model made at the same time. */
interface CallGroup {
  readonly type: "call_group";
  readonly calls: Call[];
  readonly outputs: CallOutput[];
  readonly open: Set<Call>;
}

/**
 * Gives every call a unique id and exactly one output, and places the outputs directly after the calls that were made
 * together. An output belongs to the first preceding call with its id that has none yet.
 */
function paired(items: readonly (SentItem | CustomItem)[], maxCallIdChars: number): (SentItem | CustomItem)[] {
  const ids = new CallIds(
    items.filter(isSentCall).map((call) => call.call_id),
    maxCallIdChars,
  );
  const entries: (Exclude<SentItem | CustomItem, Call | CallOutput> | CallGroup)[] = [];
  const waiting = new Map<string, { call: Call; group: CallGroup }[]>();
  let group: CallGroup | undefined;
  for (const item of items) {
    if (isSentCall(item)) {
      if (group === undefined) entries.push((group = { type: "call_group", calls: [], outputs: [], open: new Set() }));
      const call = withId(item, ids.assign(item.call_id));
      group.calls.push(call);
      group.open.add(call);
      const slot = { call, group };
      const slots = waiting.get(item.call_id);
      if (slots === undefined) waiting.set(item.call_id, [slot]);
      else slots.push(slot);
    } else if (isCallOutput(item)) {
      const answered = waiting.get(item.call_id)?.shift();
      if (answered === undefined) continue;
      answered.group.outputs.push(outputOf(answered.call, item));
      answered.group.open.delete(answered.call);
      group = undefined;
    } else {
      entries.push(item);
      group = undefined;
    }
  }
  // A loop, because this runs for the whole history in every request, and flatMap takes several times as long.
  const sent: (SentItem | CustomItem)[] = [];
  for (const entry of entries) {
    if (entry.type === "call_group") sent.push(...closed(entry));
    else sent.push(entry);
  }
  return sent;
}

function closed({ calls, outputs, open }: CallGroup): (Call | CallOutput)[] {
  const missing = [...open].map((call): CallOutput => ({
    type: `${call.type}_output`,
    call_id: call.call_id,
    output: interruptedOutput,
  }));
  return [...calls, ...outputs, ...missing];
}

function withId(call: Call, call_id: string): Call {
  return call.call_id === call_id ? call : { ...call, call_id };
}

/** Converts the output to its call's kind, because an older version sometimes wrote the wrong one. */
function outputOf({ type, call_id }: Call, item: CallOutput): CallOutput {
  const outputType = `${type}_output` as const;
  return item.type === outputType && item.call_id === call_id ? item : { ...item, type: outputType, call_id };
}

/** Assigns ids that are unique and accepted by the API; an id that is both is kept. */
class CallIds {
  readonly #maxChars: number;
  readonly #assigned = new Set<string>();
  readonly #known: ReadonlySet<string>;
  readonly #next = new Map<string, number>();

  /** `all` are the ids of the whole history: a new id must not collide with that of a later call. */
  constructor(all: Iterable<string>, maxChars: number) {
    this.#known = new Set(all);
    this.#maxChars = maxChars;
  }

  assign(id: string): string {
    const assigned = this.#isValid(id) && !this.#assigned.has(id) ? id : this.#newId(id);
    this.#assigned.add(assigned);
    return assigned;
  }

  #isValid(id: string): boolean {
    return id.length <= this.#maxChars && /^[A-Za-z0-9_-]+$/.test(id);
  }

  #newId(id: string): string {
    const base = id.replaceAll(/[^A-Za-z0-9_-]/g, "_") || "call";
    // Counted per base, because thousands of calls may share an id.
    for (let count = this.#next.get(base) ?? 1; ; count++) {
      const suffix = count === 1 ? "" : `_${count}`;
      const candidate = base.slice(0, this.#maxChars - suffix.length) + suffix;
      if (this.#known.has(candidate) || this.#assigned.has(candidate)) continue;
      this.#next.set(base, count + 1);
      return candidate;
    }
  }
}

/**
 * Whether reasoning can be sent back to the model: the same model produced it over the same API, and it is not empty.
 * The Responses API stores nothing for us and the Messages API verifies a signature, so there it must be encrypted or
 * signed.
 */
function isOwnReasoning(item: ReasoningItem, api: WireApi, model: string): boolean {
  const { origin, encrypted_content: encrypted } = item;
  if (origin !== undefined && (origin.api !== api || origin.model !== model)) return false;
  // A lone surrogate is invalid JSON for some servers, and signed content must not be repaired.
  if (!textsOf(item).every((text) => text.isWellFormed())) return false;
  switch (api) {
    case "responses":
      return Boolean(encrypted) && isReasoningModel(model);
    case "messages":
      return Boolean(encrypted) && origin !== undefined;
    case "chat":
      return encrypted ? origin !== undefined : hasText(item);
    default:
      return api satisfies never;
  }
}

/** Reasoning belongs to the message or call after it; without one, the APIs reject it. */
function withoutLooseReasoning(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  let hasFollower = false;
  const remaining = items.toReversed().filter((item) => {
    if (item.type === "reasoning") return hasFollower;
    hasFollower =
      isSentCall(item) || item.type === "web_search_call" || (item.type === "message" && item.role === "assistant");
    return true;
  });
  return remaining.toReversed();
}

function hasText(item: ReasoningItem): boolean {
  return textsOf(item).some((text) => text.trim() !== "");
}

function textsOf({ summary, content }: ReasoningItem): string[] {
  return [...summary, ...(content ?? [])].map(({ text }) => text);
}

/** How normalization changes the items of one type. */
export interface TypeChanges {
  readonly type: string;
  /** Sent unchanged. */
  readonly same: number;
  readonly changed: number;
  readonly leftOut: number;
  /** Created for the API, such as the output of a call that has none. */
  readonly added: number;
}

export interface WireChanges {
  readonly api: WireApi;
  readonly sent: number;
  /** By type, in the order of the history. */
  readonly types: readonly TypeChanges[];
}

/**
 * Reports which items of a history would be sent, and how they would change. Unchanged items are recognized by object
 * identity.
 */
export function wireChanges(api: WireApi, items: readonly ResponseItem[], model: string): WireChanges {
  const sent = normalizeHistory(api, items, model);
  const originalItems = new Set<unknown>(items);
  const sentItems = new Set<unknown>(sent);
  const types = [...new Set([...items, ...sent].map(({ type }) => type))];
  return { api, sent: sent.length, types: types.map(changesOf) };

  function changesOf(type: string): TypeChanges {
    const before = items.filter((item) => item.type === type);
    const same = before.filter((item) => sentItems.has(item)).length;
    const createdCount = sent.filter((item) => item.type === type && !originalItems.has(item)).length;
    const changed = Math.min(before.length - same, createdCount);
    return { type, same, changed, leftOut: before.length - same - changed, added: createdCount - changed };
  }
}
