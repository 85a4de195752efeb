import { chosenLogin } from "./logins.js";
import type { ModelEntries } from "../models/models.js";
import { providerOfKey, providerOfModel } from "./pick-provider.js";
import { mergeChoice, type ProviderChoice } from "./provider-choice.js";
import type { KeySources } from "./vendors.js";

/** One layer, and whether the user chose it explicitly: in their own configuration, or with a flag. */
export interface ChoiceLayer {
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
  const said = layers.map(({ choice }) => choice);
  const found = mergeChoice(said, keys, models);
  if (keys.auth === undefined) return found;
  const { model } = found;
  const provider =
    found.provider ?? (model === undefined ? providerOfKey(keys) : providerOfModel(model, models, keys)) ?? "";
  if (chosenLogin(keys.auth, provider) === undefined) return found;
  const withoutAddress = layers.map(({ choice, isOwn }) => (isOwn ? choice : { ...choice, baseUrl: undefined }));
  return mergeChoice(withoutAddress, keys, models);
}
