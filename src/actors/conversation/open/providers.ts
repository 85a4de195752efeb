import { createRedactor, secretsOf } from "../../../config/secrets/redact.js";
import { ProviderName } from "../../../messages/config.js";
import { check } from "../../../messages/parse.js";
import { builtInProviders } from "../../../providers/built-in.js";
import { clientProvider } from "../../../providers/client-provider.js";
import type { Provider } from "../../../providers/provider.js";
import { proxyVariables } from "../../../providers/transport/http-fetch.js";
import type { Transport } from "../../../providers/transport/transport.js";
import { wireProvider } from "../../../providers/wire-provider.js";
import type { SummaryBy } from "../../compactor/summarizer.js";
import type { AccessDesk } from "../../credentials/credential-resolver.js";
import type { ManagerOptions } from "./manager-options.js";
import type { Settings } from "../state/settings.js";

export interface ProviderParts {
  readonly desk: AccessDesk;
  /** The keys in the configuration. */
  readonly keys: readonly string[];
  countTokens(text: string): number;
  /** Told of how long a provider wants to be left alone. */
  onRest(provider: string, ms: number): void;
}

/** Who answers in the conversations of one manager, with the connections they share. */
export class Providers {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #client: Provider | undefined;
  readonly #inProcess: ReadonlyMap<string, Provider>;
  readonly #offline: Provider | undefined;
  readonly #wired = new Map<string, Provider>();
  readonly #parts: ProviderParts;
  #transport: Promise<Transport> | undefined;
  #redactor: ((text: string) => string) | undefined;

  constructor(options: ManagerOptions, parts: ProviderParts) {
    const { client, providers = [], env = {} } = options;
    // By another one it could not be chosen.
    for (const { name } of providers) check(ProviderName, name, "the name of a provider");
    this.#parts = parts;
    this.#env = env;
    this.#client = client === undefined ? undefined : clientProvider(client);
    const builtIn = builtInProviders({ countTokens: (text) => parts.countTokens(text) });
    this.#offline = builtIn.find(({ name }) => name === "offline");
    const known = [...builtIn, ...providers];
    this.#inProcess = new Map(known.map((provider) => [provider.name, provider]));
  }

  /** The names of those that need no connection; undefined when an injected client answers for any. */
  get inProcess(): ReadonlySet<string> | undefined {
    return this.#client === undefined ? new Set(this.#inProcess.keys()) : undefined;
  }

  of(settings: Settings): Provider {
    return this.#client ?? this.#inProcess.get(settings.provider) ?? this.#reached(settings);
  }

  /** Who summarizes for a conversation with these settings: in a thread, unless it was injected into this one. */
  summaryBy(settings: Settings): SummaryBy {
    const { provider, api, baseUrl } = settings;
    const access = this.#parts.desk.accessTo(settings);
    const isReached = this.#client === undefined && !this.#inProcess.has(provider);
    if (isReached && api !== undefined) {
      return { kind: "wire", provider, api, baseUrl, access, env: proxyVariables(this.#env) };
    }
    const answerer = this.of(settings);
    return answerer === this.#offline ? { kind: "offline" } : { kind: "provider", provider: answerer };
  }

  async close(): Promise<void> {
    (await this.#transport)?.close();
  }

  #reached({ provider, api, baseUrl, login }: Settings): Provider {
    if (api === undefined) throw new Error(`there is no provider ${provider}`);
    const key = `${provider} ${api} ${baseUrl} ${login}`;
    const known = this.#wired.get(key);
    if (known !== undefined) return known;
    const made = wireProvider({
      provider,
      api,
      baseUrl,
      transport: () => (this.#transport ??= this.#connect()),
      ...this.#parts.desk.accessTo({ provider, ...(login === undefined ? {} : { login }) }),
      redact: (text) => (this.#redactor ??= this.#makeRedactor())(text),
      onRest: (ms) => this.#parts.onRest(provider, ms),
    });
    this.#wired.set(key, made);
    return made;
  }

  #makeRedactor(): (text: string) => string {
    return createRedactor([...secretsOf(this.#env), ...this.#parts.keys]);
  }

  /** Loaded on first use: the offline model needs none of it. */
  async #connect(): Promise<Transport> {
    const { createTransport } = await import("../../../providers/transport/node-transport.js");
    return createTransport(this.#env);
  }
}
