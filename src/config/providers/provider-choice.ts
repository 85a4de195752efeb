import type { Config } from "../../messages/config.js";
import type { ModelEntries } from "../models/models.js";
import { ownerOf, providerOfKey, providerOfModel } from "./pick-provider.js";
import type { KeySources } from "./vendors.js";

/** What is said about who answers; one layer of several, such as the configuration, a rollout and the flags. */
export type ProviderChoice = { readonly [K in "provider" | "api" | "model" | "baseUrl"]?: Config[K] | undefined };

/**
 * What holds when layers are put one over the other. A model, an API and above all an address, which is sent the key,
 * go with their provider: what a layer says for another provider than the last one named does not count.
 */
export function choiceOf(
  layers: readonly ProviderChoice[],
  keys: KeySources,
  models: ModelEntries = {},
): ProviderChoice {
  let provider: string | undefined;
  let baseUrl: string | undefined;
  let owner: string | undefined;
  const owned = layers.map((layer) => {
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
 * A model that is known to be another provider's means that one, where its provider is a vendor whose models have names
 * of their own. At an address somebody configured there may be any model.
 */
function elsewhere(
  model: string | undefined,
  models: ModelEntries,
  { provider, baseUrl }: ProviderChoice,
): string | undefined {
  if (model === undefined || baseUrl !== undefined) return undefined;
  if (provider !== "openai" && provider !== "anthropic") return undefined;
  const other = ownerOf(model, models);
  return other === provider ? undefined : other;
}

function addressOf(provider: string | undefined, { providers = {} }: KeySources): string | undefined {
  return provider === undefined ? undefined : providers[provider]?.baseUrl;
}

function defined({ provider, api, model, baseUrl }: ProviderChoice): ProviderChoice {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(api === undefined ? {} : { api }),
    ...(model === undefined ? {} : { model }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}
