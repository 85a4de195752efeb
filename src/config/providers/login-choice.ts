import { chosenLogin } from "./logins.js";
import type { ModelEntries } from "../models/models.js";
import { providerOfKey, providerOfModel } from "./pick-provider.js";
import { choiceOf, type ProviderChoice } from "./provider-choice.js";
import type { KeySources } from "./vendors.js";

/** One layer, and whether the user chose it explicitly: in their own configuration, or with a flag. */
export interface SaidChoice {
  readonly choice: ProviderChoice;
  readonly isOwn: boolean;
}

/**
 * Same as `choiceOf`, except that when a login is used, only the user's own configuration and flags may set the address
 * that receives its token. The environment and the project may not.
 */
export function guardedChoice(
  layers: readonly SaidChoice[],
  keys: KeySources,
  models: ModelEntries = {},
): ProviderChoice {
  const said = layers.map(({ choice }) => choice);
  const found = choiceOf(said, keys, models);
  if (keys.auth === undefined) return found;
  const { model } = found;
  const provider =
    found.provider ?? (model === undefined ? providerOfKey(keys) : providerOfModel(model, models, keys)) ?? "";
  if (chosenLogin(keys.auth, provider) === undefined) return found;
  const withoutAddress = layers.map(({ choice, isOwn }) => (isOwn ? choice : { ...choice, baseUrl: undefined }));
  return choiceOf(withoutAddress, keys, models);
}
