import type { ModelRequest } from "../messages/model.js";
import { isReasoningModel, plainName } from "./normalize/reasoning-model.js";

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

/** Whether a model may be asked to reason. Facts from the table or the configuration win over the name. */
export function canReason({ model, facts }: Pick<ModelRequest, "model" | "facts">): boolean {
  return facts?.reasons ?? isReasoningModel(model);
}

/** The effort in a form that an OpenAI model accepts; undefined if none should be sent. */
export function effortFor(request: Pick<ModelRequest, "model" | "facts" | "effort">): string | undefined {
  const { model, effort } = request;
  if (effort === null || effort === undefined || !canReason(request)) return undefined;
  const taken = families.find(([beginning]) => beginning.test(plainName(model)))?.[1];
  return taken === undefined ? effort : nearestEffort(effort, taken);
}

/**
 * The nearest accepted effort towards the middle of the scale, so that a low effort stays low and a high one is never
 * raised.
 */
export function nearestEffort(effort: string, taken: readonly string[]): string {
  const place = scale.indexOf(effort);
  // An unknown effort may belong to a later API version, so the server decides.
  if (place === -1) return effort;
  const [least = effort, most = least] = [taken[0], taken.at(-1)];
  if (place < middle) return scale.slice(place).find((one) => taken.includes(one)) ?? most;
  return scale.slice(0, place + 1).findLast((one) => taken.includes(one)) ?? least;
}
