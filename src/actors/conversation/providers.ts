import { builtInProviders } from "../../providers/built-in.js";
import { clientProvider } from "../../providers/client-provider.js";
import type { Provider } from "../../providers/provider.js";
import type { ManagerOptions } from "./manager-options.js";
import type { Settings } from "./settings.js";

/** Who answers in the conversations of one manager, with the connections they share. */
export class Providers {
  readonly #client: Provider | undefined;
  readonly #inProcess: ReadonlyMap<string, Provider>;

  constructor({ client, providers = [] }: ManagerOptions, countTokens: (text: string) => number) {
    this.#client = client === undefined ? undefined : clientProvider(client);
    const known = [...builtInProviders({ countTokens }), ...providers];
    this.#inProcess = new Map(known.map((provider) => [provider.name, provider]));
  }

  /** The names of those that need no connection; undefined when an injected client answers for any. */
  get inProcess(): ReadonlySet<string> | undefined {
    return this.#client === undefined ? new Set(this.#inProcess.keys()) : undefined;
  }

  of(settings: Settings): Provider {
    return this.#client ?? this.#inProcess.get(settings.provider) ?? this.#reached(settings);
  }

  async close(): Promise<void> {}

  #reached({ provider, api, baseUrl }: Settings): Provider {
    if (api === undefined) throw new Error(`there is no provider ${provider}`);
    throw new Error(`${provider} at ${baseUrl} cannot be reached yet`);
  }
}
