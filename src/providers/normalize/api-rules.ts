import type { WireApi } from "../../messages/settings/config.js";
import type { ModelRequest } from "../../messages/model.js";
import type { OutputSchema } from "../../messages/output-schema.js";
import type { MessageItem } from "../../messages/response-item.js";

const name = "cody_output_schema";

/** From least to most. */
const scale = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

const middle = scale.indexOf("medium");

/** The efforts that OpenAI's models accept, by name prefix. Any other model is sent the effort unchanged. */
const families: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:o\d|codex-mini)/, ["low", "medium", "high"]],
  [/^gpt-5-pro/, ["high"]],
  [/^gpt-5-codex/, ["low", "medium", "high"]],
  [/^gpt-5(?![.\d])/, ["minimal", "low", "medium", "high"]],
  [/^gpt-5\.1-codex-max/, ["low", "medium", "high", "xhigh"]],
  [/^gpt-5\.1-codex/, ["low", "medium", "high"]],
  [/^gpt-5\.1(?!\d)/, ["none", "low", "medium", "high"]],
  [/^gpt-5\.[23](?:-codex|-pro)/, ["low", "medium", "high", "xhigh"]],
  [/^gpt-5\.[2-5](?!\d)/, ["none", "low", "medium", "high", "xhigh"]],
];

const withoutReasoning = /^(?:gpt-[34]|chatgpt-|gpt-5[.\d]*-chat)/;

const taking = /^gpt-5(?![.\d]*-chat)/;

/** The differences between the wire APIs in the input they accept. */
export interface ApiRules {
  /** Whether custom tool calls exist, for models that support them; elsewhere they become function calls. */
  readonly customTools: boolean;
  /** Whether a web search by the provider is an item; elsewhere it becomes a sentence of the assistant. */
  readonly webSearches: boolean;
  /** Whether a tool output may contain images. */
  readonly imagesInOutputs: boolean;
  readonly maxCallIdChars: number;
  /** The role that replaces each of ours. */
  readonly roles: Readonly<Record<MessageItem["role"], MessageItem["role"]>>;
  /** Whether the first and the last message must be the user's. */
  readonly userAtBothEnds: boolean;
}

export const apiRules = {
  responses: {
    customTools: true,
    webSearches: true,
    imagesInOutputs: true,
    maxCallIdChars: 64,
    roles: { user: "user", assistant: "assistant", developer: "developer", system: "system" },
    userAtBothEnds: false,
  },
  chat: {
    customTools: false,
    webSearches: false,
    imagesInOutputs: false,
    maxCallIdChars: 40,
    // Servers that only resemble OpenAI's do not know the developer role.
    roles: { user: "user", assistant: "assistant", developer: "system", system: "system" },
    userAtBothEnds: false,
  },
  messages: {
    customTools: false,
    webSearches: false,
    imagesInOutputs: true,
    maxCallIdChars: 64,
    roles: { user: "user", assistant: "assistant", developer: "user", system: "user" },
    userAtBothEnds: true,
  },
} satisfies Record<WireApi, ApiRules>;

/**
 * Whether a model supports tools with plain-text input. GPT-5 introduced them; a name with a vendor prefix belongs to a
 * router, and few routers support such tools.
 */
export function supportsCustomTools(model: string): boolean {
  return taking.test(model);
}

/** Some of OpenAI's models reject a request with a reasoning setting or reasoning items. */
export function isReasoningModel(model: string): boolean {
  return !withoutReasoning.test(plainName(model));
}

/** Strips a router's vendor prefix and the prefix of fine-tuned models. */
function plainName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).replace(/^ft:/, "");
}

/** Whether a model may be asked to reason. Facts from the table or the configuration win over the name. */
export function canReason({ model, facts }: Pick<ModelRequest, "model" | "facts">): boolean {
  return facts?.reasons ?? isReasoningModel(model);
}

/** The effort in a form that an OpenAI model accepts; undefined if none should be sent. */
export function effortFor(request: Pick<ModelRequest, "model" | "facts" | "effort">): string | undefined {
  const { model, effort } = request;
  if (effort === null || effort === undefined || !canReason(request)) return undefined;
  const efforts = families.find(([beginning]) => beginning.test(plainName(model)))?.[1];
  return efforts === undefined ? effort : nearestEffort(effort, efforts);
}

/**
 * The nearest accepted effort towards the middle of the scale, so that a low effort stays low and a high one is never
 * raised.
 */
export function nearestEffort(effort: string, accepted: readonly string[]): string {
  const place = scale.indexOf(effort);
  // An unknown effort may belong to a later API version, so the server decides.
  if (place === -1) return effort;
  const [least = effort, most = least] = [accepted[0], accepted.at(-1)];
  if (place < middle) return scale.slice(place).find((one) => accepted.includes(one)) ?? most;
  return scale.slice(0, place + 1).findLast((one) => accepted.includes(one)) ?? least;
}

/** The output schema in the form of OpenAI's APIs; Chat Completions wraps it once more. */
export function outputFormat(schema: OutputSchema) {
  return { name, schema, strict: true };
}
