import { isJsonObject } from "../../../src/base/parse.js";
import type { WireApi } from "../../../src/messages/settings/config.js";
import type { ContentPart, MessageItem, ReasoningItem, ResponseItem } from "../../../src/messages/response-item.js";

/** The reasons for which a wire API would refuse these items, implemented apart from the code under test. */
export function problemsIn(api: WireApi, items: readonly ResponseItem[], model: string): string[] {
  return [
    ...(items.length === 0 ? ["nothing to answer"] : []),
    ...items.flatMap((item) => itemProblems(api, item, model)),
    ...itemIdProblems(items),
    ...callIdProblems(api, items),
    ...pairingProblems(items),
    ...reasoningOrderProblems(items),
    ...(api === "messages" ? firstAndLastProblems(items) : []),
  ];
}

const types: Record<WireApi, readonly string[]> = {
  responses: [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "web_search_call",
  ],
  chat: ["message", "reasoning", "function_call", "function_call_output"],
  messages: ["message", "reasoning", "function_call", "function_call_output"],
};

const roles: Record<WireApi, readonly MessageItem["role"][]> = {
  responses: ["user", "assistant", "developer", "system"],
  chat: ["user", "assistant", "system"],
  messages: ["user", "assistant"],
};

function itemProblems(api: WireApi, item: ResponseItem, model: string): string[] {
  if (!types[api].includes(item.type)) return [`${item.type} is never sent`];
  const found: string[] = JSON.stringify(item).includes("\\ud8") ? ["half a character"] : [];
  if (item.type === "reasoning") found.push(...reasoningProblems(api, item, model));
  if (item.type === "message") found.push(...messageProblems(api, item));
  if ("name" in item && !/^[\w-]{1,64}$/.test(item.name)) found.push(`name ${item.name}`);
  if (item.type === "function_call" && !isJsonObject(item.arguments)) found.push(`arguments ${item.arguments}`);
  if (item.type === "web_search_call" && !isSearch(item)) found.push(`search ${JSON.stringify(item.action)}`);
  if ("output" in item && typeof item.output !== "string") {
    if (item.output.length === 0) found.push("empty output");
    found.push(...item.output.flatMap((part) => partProblems(part, "input_text", api !== "chat")));
  }
  return found;
}

function isSearch({ status, action }: Extract<ResponseItem, { type: "web_search_call" }>): boolean {
  const wanted: Readonly<Record<string, string>> = { search: "query", open_page: "url", find_in_page: "pattern,url" };
  const texts = Object.entries(action ?? {}).filter(([key, value]) => key !== "type" && typeof value === "string");
  const keys = texts.map(([key]) => key).toSorted();
  return ["completed", "failed"].includes(status ?? "") && wanted[action?.type ?? ""] === keys.join(",");
}

function messageProblems(api: WireApi, { role, content }: MessageItem): string[] {
  const text = role === "assistant" ? "output_text" : "input_text";
  return [
    ...(roles[api].includes(role) ? [] : [`role ${role}`]),
    ...(content.length === 0 ? ["empty message"] : []),
    ...content.flatMap((part) => partProblems(part, text, role === "user")),
  ];
}

function partProblems(part: ContentPart, text: string, images: boolean): string[] {
  if (part.type === "input_audio") return ["audio"];
  if (part.type === "input_image") {
    return images && /^(https:\/\/.|data:image\/(png|jpeg|gif|webp);base64,.)/.test(part.image_url) ? [] : ["image"];
  }
  return [...(part.type === text ? [] : [part.type]), ...(/\S/.test(part.text) ? [] : ["empty text"])];
}

function reasoningProblems(api: WireApi, item: ReasoningItem, model: string): string[] {
  const found: string[] = [];
  const words = [...item.summary, ...(item.content ?? [])].map(({ text }) => text).join("");
  if (!item.encrypted_content && words.trim() === "") found.push("hollow reasoning");
  if (item.origin && (item.origin.api !== api || item.origin.model !== model)) found.push("foreign reasoning");
  if (!item.origin && item.encrypted_content && api !== "responses")
    found.push("reasoning sealed by nobody knows whom");
  if (api !== "chat" && !item.encrypted_content) found.push("reasoning that is not sealed");
  return found;
}

function itemIdProblems(items: readonly ResponseItem[]): string[] {
  const ids = items.flatMap((item) => ("id" in item && typeof item.id === "string" ? [item.id] : []));
  return new Set(ids).size === ids.length ? [] : ["doubled item id"];
}

function callIdProblems(api: WireApi, items: readonly ResponseItem[]): string[] {
  const ids = items.filter(isCall).map((item) => item.call_id);
  const longest = api === "chat" ? 40 : 64;
  return [
    ...(new Set(ids).size === ids.length ? [] : ["doubled call id"]),
    ...ids.filter((id) => !/^[\w-]+$/.test(id) || id.length > longest).map((id) => `call id ${id}`),
  ];
}

/** Consecutive calls must be followed by one output each, and no output may be elsewhere. */
function pairingProblems(items: readonly ResponseItem[]): string[] {
  const found: string[] = [];
  let open = new Map<string, string>();
  let answering = false;
  for (const item of items) {
    if (isOutput(item)) {
      answering = true;
      if (open.get(item.call_id) !== item.type) found.push(`orphan output ${item.call_id}`);
      open.delete(item.call_id);
      continue;
    }
    if ((answering || !isCall(item)) && open.size > 0) found.push(`open calls ${[...open.keys()].join()}`);
    if (answering || !isCall(item)) open = new Map();
    answering = false;
    if (isCall(item)) open.set(item.call_id, `${item.type}_output`);
  }
  if (open.size > 0) found.push(`open calls at the end ${[...open.keys()].join()}`);
  return found;
}

function reasoningOrderProblems(items: readonly ResponseItem[]): string[] {
  return items.flatMap((item, index) => {
    const next = items[index + 1];
    if (item.type !== "reasoning" || next?.type === "reasoning") return [];
    const isFromModel = next?.type === "web_search_call" || (next?.type === "message" && next.role === "assistant");
    const follows = next !== undefined && (isCall(next) || isFromModel);
    return follows ? [] : ["reasoning without its follower"];
  });
}

function firstAndLastProblems(items: readonly ResponseItem[]): string[] {
  return [
    ...(isFromUser(items[0]) ? [] : ["does not begin with the user"]),
    ...(isFromUser(items.at(-1)) ? [] : ["does not end with the user"]),
  ];
}

function isFromUser(item: ResponseItem | undefined) {
  return item !== undefined && (isOutput(item) || (item.type === "message" && item.role === "user"));
}

function isCall(item: ResponseItem) {
  return item.type === "function_call" || item.type === "custom_tool_call";
}

function isOutput(item: ResponseItem) {
  return item.type === "function_call_output" || item.type === "custom_tool_call_output";
}
