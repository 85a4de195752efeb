import type { ModelRequest } from "../messages/model.js";
import { isReasoningModel, plainName } from "./normalize/reasoning-model.js";

/** From the least to the most. */
const scale = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const middle = scale.indexOf("medium");

/** What OpenAI's models take, by how their names begin; who is not here takes what is said. */
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

/** Whether a model may be asked to reason; what the table or the configuration knows counts before its name. */
export function mayReason({ model, facts }: Pick<ModelRequest, "model" | "facts">): boolean {
  return facts?.reasons ?? isReasoningModel(model);
}

/** The effort as a model of OpenAI takes it; undefined when nothing is to be said about it. */
export function sentEffort(request: Pick<ModelRequest, "model" | "facts" | "effort">): string | undefined {
  const { model, effort } = request;
  if (effort === null || effort === undefined || !mayReason(request)) return undefined;
  const taken = families.find(([beginning]) => beginning.test(plainName(model)))?.[1];
  return taken === undefined ? effort : nearestEffort(effort, taken);
}

/** The next one towards the middle: who asks for little gets little, and nobody pays for more than was asked. */
export function nearestEffort(effort: string, taken: readonly string[]): string {
  const place = scale.indexOf(effort);
  // A word of a later API is for the server to judge.
  if (place === -1) return effort;
  const [least = effort, most = least] = [taken[0], taken.at(-1)];
  if (place < middle) return scale.slice(place).find((one) => taken.includes(one)) ?? most;
  return scale.slice(0, place + 1).findLast((one) => taken.includes(one)) ?? least;
}
