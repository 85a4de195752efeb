import { isGiven, type JsonObject, stringOf } from "../json.js";
import { badRequest } from "./errors.js";
import type { Refusal } from "../wire-api.js";

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
