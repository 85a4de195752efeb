import { chosenLogin } from "./logins.js";
import type { ModelEntries } from "../models/models.js";
import { providerOfKey, providerOfModel } from "./pick-provider.js";
import { choiceOf, type ProviderChoice } from "./provider-choice.js";
import type { KeySources } from "./vendors.js";

/** One layer, and whether a person has said it to cody: in their own configuration, or as a flag. */
export interface SaidChoice {
  readonly choice: ProviderChoice;
  readonly isOwn: boolean;
}

/**
 * The same as `choiceOf`, but where a login answers only a person's own word says to which address its token goes: what
 * lies around in an environment or a project does not.
 */
export function guardedChoice(
  layers: readonly SaidChoice[],
  keys: KeySources,
  models: ModelEntries = {},
): ProviderChoice {
  const said = layers.map(({ choice }) => choice);
  const found = choiceOf(said, keys, models);
  const { model } = found;
  const provider =
    found.provider ?? (model === undefined ? providerOfKey(keys) : providerOfModel(model, models, keys)) ?? "";
  if (chosenLogin(keys.auth, provider) === undefined) return found;
  const withoutAddress = layers.map(({ choice, isOwn }) => (isOwn ? choice : { ...choice, baseUrl: undefined }));
  return choiceOf(withoutAddress, keys, models);
}
