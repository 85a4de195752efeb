import type { Config, AuthMethod } from "../../messages/settings/config.js";
import { type ModelEntries, resolveModel } from "../models/models.js";
import { chosenLogin } from "./logins.js";
import { type KeySources, hasKey } from "./vendors.js";

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

/** A choice of provider and model; one layer of several, such as the configuration, a rollout and the flags. */
export type ProviderChoice = { readonly [K in "provider" | "api" | "model" | "baseUrl"]?: Config[K] | undefined };

/**
 * Merges the layers. A model, an API and above all an address, which receives the key, belong to their provider: values
 * that a layer sets for a provider other than the final one are discarded.
 */
export function mergeChoice(
  layers: readonly ProviderChoice[],
  keys: KeySources,
  models: ModelEntries = {},
): ProviderChoice {
  let provider: string | undefined;
  let baseUrl: string | undefined;
  let owner: string | undefined;
  // A layer that chooses nothing cannot change the result, and looking for its owner would search for keys.
  const owned = layers.filter(choosesSomething).map((layer) => {
    const next =
      layer.provider ??
      providerOfForeignModel(layer.model, models, { provider, baseUrl: baseUrl ?? addressOf(provider, keys) }) ??
      provider;
    baseUrl = layer.baseUrl ?? (next === provider ? baseUrl : undefined);
    provider = next;
    owner =
      provider ??
      (layer.model === undefined ? owner : providerOfModel(layer.model, models, keys)) ??
      providerOfKey(keys);
    return { owner, layer };
  });
  const fitting = owned.filter((candidate) => candidate.owner === owner || candidate.owner === undefined);
  const merged = fitting.reduce<ProviderChoice>((below, { layer }) => ({ ...below, ...defined(layer) }), {});
  return defined({ ...merged, provider });
}

/**
 * A model that is known to belong to another provider selects that provider, if the current one is a vendor whose model
 * names are distinctive. A configured address may serve any model.
 */
function providerOfForeignModel(
  model: string | undefined,
  models: ModelEntries,
  { provider, baseUrl }: ProviderChoice,
): string | undefined {
  if (model === undefined || baseUrl !== undefined) return undefined;
  if (provider !== "openai" && provider !== "anthropic") return undefined;
  const other = providerServing(model, models);
  return other === provider ? undefined : other;
}

function addressOf(provider: string | undefined, { providers = {} }: KeySources): string | undefined {
  return provider === undefined ? undefined : providers[provider]?.baseUrl;
}

function choosesSomething(layer: ProviderChoice): boolean {
  return Object.keys(defined(layer)).length > 0;
}

function defined({ provider, api, model, baseUrl }: ProviderChoice): ProviderChoice {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(api === undefined ? {} : { api }),
    ...(model === undefined ? {} : { model }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}

/** One layer, and whether the user chose it explicitly: in their own configuration, or with a flag. */
interface ChoiceLayer {
  readonly choice: ProviderChoice;
  readonly isOwn: boolean;
}

/**
 * Same as `mergeChoice`, except that when a login is used, only the user's own configuration and flags may set the address
 * that receives its token. The environment and the project may not.
 */
export function mergeLoginChoice(
  layers: readonly ChoiceLayer[],
  keys: KeySources,
  models: ModelEntries = {},
): ProviderChoice {
  const choices = layers.map(({ choice }) => choice);
  const found = mergeChoice(choices, keys, models);
  if (keys.auth === undefined) return found;
  const { model } = found;
  const provider =
    found.provider ?? (model === undefined ? providerOfKey(keys) : providerOfModel(model, models, keys)) ?? "";
  if (chosenLogin(keys.auth, provider) === undefined) return found;
  const withoutAddress = layers.map(({ choice, isOwn }) => (isOwn ? choice : { ...choice, baseUrl: undefined }));
  return mergeChoice(withoutAddress, keys, models);
}

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
