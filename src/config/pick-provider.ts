import type { AuthMethod } from "../messages/config.js";
import { type ModelEntries, resolveModel } from "./models.js";
import { hasKey, type KeySources } from "./vendors.js";

/** Whose key is looked for when nothing is named, in this order. */
const guessed = ["openai", "anthropic", "openrouter"];
/** Whose models a method is for. */
export const providerOfAuth: Readonly<Record<AuthMethod, string>> = {
  "openai-api-key": "openai",
  "anthropic-api-key": "anthropic",
  "openrouter-api-key": "openrouter",
  "chatgpt-oauth": "openai",
  "claude-oauth": "anthropic",
};

/** The provider a model's name stands for; who has an unusual name is taken for Anthropic's. */
export function providerOfModel(model: string, models: ModelEntries = {}): string {
  return model === "offline" ? "offline" : resolveModel(model, models).provider;
}

/**
 * The provider whose key was chosen, or is there. Who configured a key for cody meant it more than who has one in the
 * environment.
 */
export function providerOfKey({ env, providers, auth }: KeySources): string | undefined {
  if (auth !== undefined) return providerOfAuth[auth];
  const places: readonly KeySources[] = [{ env: {}, providers }, { env }];
  return places
    .map((place) => guessed.find((provider) => hasKey(provider, place)))
    .find((provider) => provider !== undefined);
}
