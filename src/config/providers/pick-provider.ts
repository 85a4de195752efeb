import type { AuthMethod } from "../../messages/config.js";
import { type ModelEntries, resolveModel } from "../models/models.js";
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

/**
 * The provider a model's name stands for. Of whom nobody knows whose it is, it is whose key was chosen or is the only
 * one; otherwise it is taken for Anthropic's.
 */
export function providerOfModel(model: string, models: ModelEntries, keys: KeySources): string {
  if (model === "offline") return "offline";
  return ownerOf(model, models) ?? onlyHolder(keys) ?? resolveModel(model, models).provider;
}

/** Whose model it is; undefined when its name does not tell and nobody has said it. */
export function ownerOf(model: string, models: ModelEntries): string | undefined {
  const { id, provider } = resolveModel(model, models);
  const isGuess = models[id]?.provider === undefined && resolveModel(id).foundBy === "default";
  return isGuess ? undefined : provider;
}

/**
 * The provider whose key was chosen, or is there. Who configured a key for cody meant it more than who has one in the
 * environment.
 */
export function providerOfKey(keys: KeySources): string | undefined {
  return keys.auth === undefined ? holdersOf(keys)[0] : providerOfAuth[keys.auth];
}

function onlyHolder(keys: KeySources): string | undefined {
  if (keys.auth !== undefined) return providerOfAuth[keys.auth];
  const [holder, another] = holdersOf(keys);
  return another === undefined ? holder : undefined;
}

/** The providers there is a key of, in the place that counts first. */
export function holdersOf({ env, providers }: KeySources): string[] {
  const places: readonly KeySources[] = [{ env: {}, providers }, { env }];
  return (
    places
      .map((place) => guessed.filter((provider) => hasKey(provider, place)))
      .find((holders) => holders.length > 0) ?? []
  );
}
