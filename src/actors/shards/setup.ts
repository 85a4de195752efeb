import { errorMessage } from "../../base/error-message.js";
import { InvalidInputError } from "../../base/errors.js";
import type { ManagerOptions } from "../conversation/open/manager-options.js";

/** The exports of a `setup` module. */
export type Setup = Pick<ManagerOptions, "providers" | "tools" | "hooks" | "tokenizer">;

/** Loads the module with the caller's providers, tools and tokenizer. */
export async function loadSetup(url: string): Promise<Setup> {
  try {
    const { providers, tools, hooks, tokenizer } = (await import(url)) as Setup;
    return {
      ...(providers && { providers }),
      ...(tools && { tools }),
      ...(hooks && { hooks }),
      ...(tokenizer && { tokenizer }),
    };
  } catch (error) {
    throw new InvalidInputError(`setup ${url}: ${errorMessage(error)}`);
  }
}
