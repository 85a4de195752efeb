import * as z from "zod";
import { isGiven, type JsonObject, stringOf } from "../json.js";
import type { Refusal } from "../wire-api.js";
import { badRequest } from "./errors.js";

const reasoningless = /^(?:gpt-3|gpt-4|chatgpt-)/;

/** The efforts that models accept, according to their own error messages. */
const acceptedEfforts: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^o[134](?!\d)/, ["low", "medium", "high"]],
  [/^gpt-5(?:-mini|-nano|-2025-08-07)?$/, ["minimal", "low", "medium", "high"]],
  [/^gpt-5(?:\.1)?-codex(?:-mini)?$/, ["low", "medium", "high"]],
  [/^gpt-5-pro$/, ["high"]],
  [/^gpt-5\.1$/, ["none", "low", "medium", "high"]],
  [/^gpt-5\.[23]-codex$/, ["low", "medium", "high", "xhigh"]],
  [/^gpt-5\.[245](?:-mini)?$/, ["none", "low", "medium", "high", "xhigh"]],
];

/** The images that OpenAI's APIs accept: a URL, or inline data of a known type. */
export const imageUrl = z.string().regex(/^(?:https?:\/\/\S|data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/])/);

/** GPT-5.1 and later accept a temperature when they do not reason. */
const fixedSampling = /^(?:o\d|gpt-5(?:-mini|-nano|-codex|-pro)?(?:-20\d\d-\d\d-\d\d)?$)/;

/** Rejects sampling parameters that a model does not support; `say` makes the refusal for a temperature. */
export function samplingRefusal(
  body: JsonObject,
  say: (temperature: unknown) => Refusal = () => notSupported("temperature"),
): Refusal | undefined {
  if (!fixedSampling.test(stringOf(body["model"]))) return undefined;
  const { temperature, top_p: topP } = body;
  if (isGiven(temperature) && temperature !== 1) return say(temperature);
  return isGiven(topP) && topP !== 1 ? notSupported("top_p") : undefined;
}

function notSupported(param: string): Refusal {
  const text = `Unsupported parameter: '${param}' is not supported with this model.`;
  return badRequest(text, param, "unsupported_parameter");
}

/** Whether the input mentions JSON, which JSON output without a schema requires. */
export function mentionsJson(input: unknown): boolean {
  return /json/i.test(JSON.stringify(input) ?? "");
}

/** Rejects an effort that a model does not support; `param` is its place in the request. */
export function effortRefusal(model: string, effort: unknown, param: string): Refusal | undefined {
  if (typeof effort !== "string") return undefined;
  if (reasoningless.test(model)) {
    const text = `Unsupported parameter: '${param}' is not supported with this model.`;
    return badRequest(text, param, "unsupported_parameter");
  }
  const values = acceptedEfforts.find(([name]) => name.test(model))?.[1];
  if (values === undefined || values.includes(effort)) return undefined;
  const [last = "", ...others] = values.map((value) => `'${value}'`).toReversed();
  const listed = others.length === 0 ? last : `${others.toReversed().join(", ")}, and ${last}`;
  const text = `Unsupported value: '${effort}' is not supported with the '${model}' model. Supported values are: ${listed}.`;
  return badRequest(text, param, "unsupported_value");
}
