import { isGiven, type JsonObject, objectOf, objectsOf, stringOf } from "../json.js";
import type { Refusal } from "../wire-api.js";
import { invalidMessages } from "./errors.js";

/** The maximum number of output tokens by model. */
const maxOutputs: readonly (readonly [RegExp, number])[] = [
  [/^claude-3-haiku/, 4_096],
  [/^claude-3-5/, 8_192],
  [/^claude-opus-4(?:-0|-1)?(?:-20\d{6})?$/, 32_000],
  [/^claude-(?:opus|sonnet|haiku)-4/, 128_000],
];

const generation = /^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)/;

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

/** Checks rules of the Messages API that depend on the model. */
export function modelRefusal(body: JsonObject): Refusal | undefined {
  const model = stringOf(body["model"]);
  const most = maxOutputs.find(([name]) => name.test(model))?.[1];
  const maxTokens = Number(body["max_tokens"]);
  if (most !== undefined && maxTokens > most) {
    const rule = `which is the maximum allowed number of output tokens for ${model}`;
    return invalidMessages(`max_tokens: ${maxTokens} > ${most}, ${rule}`);
  }
  return modelThinkingRefusal(model, objectOf(body["thinking"])["type"]) ?? effortRefusal(model, body);
}

function modelThinkingRefusal(model: string, type: unknown): Refusal | undefined {
  const version = versionOf(model);
  if (type === undefined || version === undefined) return undefined;
  if (version < 307) return invalidMessages(`'${model}' does not support thinking.`);
  if (type === "adaptive" && version < 406) return invalidMessages("adaptive thinking is not supported on this model");
  if (type !== "enabled" || version < 407) return undefined;
  const instead = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  return invalidMessages(`"thinking.type.enabled" is not supported for this model. ${instead}`);
}

function effortRefusal(model: string, body: JsonObject): Refusal | undefined {
  const version = versionOf(model);
  const effort = stringOf(objectOf(body["output_config"])["effort"]);
  if (effort === "" || version === undefined) return undefined;
  if (version < 405) return invalidMessages("This model does not support the effort parameter.");
  const isTooNew = (effort === "xhigh" && version < 407) || (effort === "max" && version < 406);
  return isTooNew ? invalidMessages(`This model does not support effort level '${effort}'.`) : undefined;
}

/** Whether a model continues an answer that the last message begins. */
export function takesPrefill(model: string): boolean {
  return (versionOf(model) ?? 0) < 406;
}

/** 406 for Claude 4.6; undefined for a model that is not Anthropic's. */
function versionOf(model: string): number | undefined {
  const old = /^claude-3(?:-(\d))?-/.exec(model);
  const [, major, minor] = old === null ? (generation.exec(model) ?? []) : ["", "3", old[1]];
  return major === undefined ? undefined : Number(major) * 100 + Number(minor ?? 0);
}
