import type { AuthMethod } from "../messages/config.js";
import { type ModelEntries, resolveModel } from "./models.js";
import { apiKey, type KeySources } from "./vendors.js";

/** Whose key is looked for when nothing is named, in this order. */
const guessed = ["openai", "anthropic", "openrouter"];
/** Whose key a method uses; a login of another program is nothing we can use yet. */
export const providerOfAuth: Readonly<Record<AuthMethod, string | undefined>> = {
  "openai-api-key": "openai",
  "anthropic-api-key": "anthropic",
  "chatgpt-oauth": undefined,
  "claude-oauth": undefined,
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
  const chosen = auth === undefined ? undefined : providerOfAuth[auth];
  if (chosen !== undefined) return chosen;
  const places: readonly KeySources[] = [{ env: {}, providers }, { env }];
  return places
    .map((place) => guessed.find((provider) => apiKey(provider, place) !== undefined))
    .find((provider) => provider !== undefined);
}
