import { badRequest } from "./errors.js";
import type { Refusal } from "../wire-api.js";

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
