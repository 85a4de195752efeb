import { invalidMessages } from "./errors.js";
import { isGiven, type JsonObject, objectOf, objectsOf, stringOf } from "../json.js";
import type { Refusal } from "../wire-api.js";

const maxCacheBlocks = 4;

/** Checks for parameters that the Messages API does not accept together. */
export function optionRefusal(body: JsonObject): Refusal | undefined {
  const choice = stringOf(objectOf(body["tool_choice"])["type"]);
  if (choice !== "" && objectsOf(body["tools"]).length === 0) {
    return invalidMessages("tool_choice: `tool_choice` may only be specified while providing `tools`.");
  }
  return thinkingRefusal(body, choice) ?? cacheRefusal(body);
}

function thinkingRefusal(body: JsonObject, choice: string): Refusal | undefined {
  const thinking = stringOf(objectOf(body["thinking"])["type"]);
  if (thinking !== "enabled" && thinking !== "adaptive") return undefined;
  if (choice === "any" || choice === "tool") {
    return invalidMessages("Thinking may not be enabled when tool_choice forces tool use.");
  }
  if (!isGiven(body["temperature"]) || body["temperature"] === 1) return undefined;
  return invalidMessages("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.");
}

function cacheRefusal(body: JsonObject): Refusal | undefined {
  const messages = objectsOf(body["messages"]).flatMap(({ content }) => objectsOf(content));
  const results = messages.flatMap(({ content }) => objectsOf(content));
  const places = [...objectsOf(body["tools"]), ...objectsOf(body["system"]), ...messages, ...results];
  const found = places.filter((place) => isGiven(place["cache_control"])).length;
  if (found <= maxCacheBlocks) return undefined;
  const rule = `A maximum of ${maxCacheBlocks} blocks with cache_control may be provided.`;
  return invalidMessages(`${rule} Found ${found}.`);
}
