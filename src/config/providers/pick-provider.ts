import type { AuthMethod } from "../../messages/config.js";
import { type ModelEntries, resolveModel } from "../models/models.js";
import { hasKey, type KeySources } from "./vendors.js";

/** The providers whose keys are tried, in this order, when neither a provider nor a model is named. */
const guessed = ["openai", "anthropic", "openrouter"];
/** The provider of each authentication method. */
export const providerOfAuth: Readonly<Record<AuthMethod, string>> = {
  "openai-api-key": "openai",
  "anthropic-api-key": "anthropic",
  "openrouter-api-key": "openrouter",
  "chatgpt-oauth": "openai",
  "claude-oauth": "anthropic",
};

/**
 * The provider of a model name. For an unknown name, it is the provider of the chosen or the only key, otherwise
 * Anthropic.
 */
export function providerOfModel(model: string, models: ModelEntries, keys: KeySources): string {
  if (model === "offline") return "offline";
  return providerServing(model, models) ?? onlyHolder(keys) ?? resolveModel(model, models).provider;
}

/** The provider that is known to serve a model; undefined if neither the name nor the configuration tells. */
export function providerServing(model: string, models: ModelEntries): string | undefined {
  const { id, provider } = resolveModel(model, models);
  const isGuess = models[id]?.provider === undefined && resolveModel(id).foundBy === "default";
  return isGuess ? undefined : provider;
}

/**
 * The provider of the chosen key, or else of a key that exists. A key configured for cody wins over one in the
 * environment.
 */
export function providerOfKey(keys: KeySources): string | undefined {
  return keys.auth === undefined ? providersWithKey(keys)[0] : providerOfAuth[keys.auth];
}

function onlyHolder(keys: KeySources): string | undefined {
  if (keys.auth !== undefined) return providerOfAuth[keys.auth];
  const [holder, another] = providersWithKey(keys);
  return another === undefined ? holder : undefined;
}

/** The providers that have a key: those configured for cody if there are any, otherwise those in the environment. */
export function providersWithKey({ env, providers }: KeySources): string[] {
  const configured =
    providers === undefined ? [] : guessed.filter((provider) => hasKey(provider, { env: {}, providers }));
  return configured.length > 0 ? configured : guessed.filter((provider) => hasKey(provider, { env }));
}
