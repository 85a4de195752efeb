import type { Config } from "../../messages/config.js";
import type { ModelEntries } from "../models/models.js";
import { providerServing, providerOfKey, providerOfModel } from "./pick-provider.js";
import type { KeySources } from "./vendors.js";

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
      elsewhere(layer.model, models, { provider, baseUrl: baseUrl ?? addressOf(provider, keys) }) ??
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
  const said = fitting.reduce<ProviderChoice>((below, { layer }) => ({ ...below, ...defined(layer) }), {});
  return defined({ ...said, provider });
}

/**
 * A model that is known to belong to another provider selects that provider, if the current one is a vendor whose model
 * names are distinctive. A configured address may serve any model.
 */
function elsewhere(
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
