import type { AuthMethod, Config, WireApi } from "../../messages/settings/config.js";

const ownPort = "11434";

type Env = Readonly<NodeJS.ProcessEnv>;

/** The built-in facts about a provider. */
export interface Vendor {
  /** The supported wire APIs; the first is the default. */
  readonly apis: readonly [WireApi, ...WireApi[]];
  /** Undefined: the default address of the vendor's SDK. */
  readonly baseUrl?: string;
  /** The environment variable that overrides the address. */
  readonly baseUrlOf?: { readonly variable: string; readonly read: (value: string) => string };
  /** Present if the provider requires a key. */
  readonly key?: { readonly missing: string; readonly page: string };
  /** The default model when the provider is named. Undefined if no model is available to every user. */
  readonly model?: string;
  /** The default model when neither is named and the provider was inferred from a key. */
  readonly unnamedModel?: string;
}

const vendors: ReadonlyMap<string, Vendor> = new Map<string, Vendor>([
  [
    "openai",
    {
      apis: ["responses", "chat"],
      baseUrlOf: { variable: "OPENAI_BASE_URL", read: unchanged },
      key: {
        missing: "OPENAI_API_KEY environment variable is required for OpenAI models.",
        page: "https://platform.openai.com/api-keys",
      },
      model: "gpt-5.4",
    },
  ],
  [
    "anthropic",
    {
      apis: ["messages"],
      baseUrlOf: { variable: "ANTHROPIC_BASE_URL", read: unchanged },
      key: {
        missing: "ANTHROPIC_API_KEY environment variable is required.",
        page: "https://console.anthropic.com/settings/keys",
      },
      model: "claude-sonnet-5-5",
      unnamedModel: "claude-sonnet-4-20250514",
    },
  ],
  [
    "openrouter",
    {
      apis: ["chat"],
      baseUrl: "https://openrouter.ai/api/v1",
      key: {
        missing: "OPENROUTER_API_KEY environment variable is required for OpenRouter models.",
        page: "https://openrouter.ai/keys",
      },
      model: "openrouter/auto",
    },
  ],
  [
    "ollama",
    {
      apis: ["chat"],
      baseUrl: "http://localhost:11434/v1",
      baseUrlOf: { variable: "OLLAMA_HOST", read: ollamaBaseUrl },
    },
  ],
]);

export const vendorNames: readonly string[] = [...vendors.keys()];

/** The providers that can be chosen: the vendors, the configured ones, and the offline model. */
export function providerNames(configured: Config["providers"] = {}): string[] {
  return [...new Set([...vendorNames, ...Object.keys(configured), "offline"])];
}

export function vendorOf(provider: string): Vendor | undefined {
  return vendors.get(provider);
}

/** Explains why a provider does not support an API; undefined if it does, or if that is unknown. */
export function apiProblem(provider: string, api: WireApi): string | undefined {
  const apis = vendors.get(provider)?.apis;
  return apis === undefined || apis.includes(api)
    ? undefined
    : `${provider} supports the ${apis.join(" and ")} API, not ${api}`;
}

/** The address from the provider's environment variable; undefined if it is not set. */
export function baseUrlFromEnvironment(provider: string, env: Env): string | undefined {
  const baseUrlOf = vendors.get(provider)?.baseUrlOf;
  const value = baseUrlOf === undefined ? "" : (env[baseUrlOf.variable] ?? "").trim();
  return value === "" ? undefined : baseUrlOf?.read(value);
}

/** The environment variable for a provider's key; also works for unknown providers. */
export function keyVariable(provider: string): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_API_KEY`;
}

/** The sources of keys. A configured key wins over the environment. */
export interface KeySources {
  readonly env: Env;
  readonly providers?: Config["providers"];
  /** The authentication method that the user chose. */
  readonly auth?: AuthMethod | undefined;
}

/** Undefined if there is no key, including for providers that need none. */
export function apiKey(provider: string, { env, providers = {} }: KeySources): string | undefined {
  return providers[provider]?.apiKey ?? (env[keyVariable(provider)]?.trim() || undefined);
}

/** Also true for a key in the keyring, which is read only when the key is used. */
export function hasKey(provider: string, sources: KeySources): boolean {
  return sources.providers?.[provider]?.keyring === true || apiKey(provider, sources) !== undefined;
}

export function configuredKeys(providers: Config["providers"] = {}): string[] {
  return Object.values(providers).flatMap(({ apiKey: key }) => (key === undefined ? [] : [key]));
}

function unchanged(value: string): string {
  return value;
}

/**
 * Converts Ollama's own variable to an address: a host, a port, both, or a whole URL. As in Ollama, a host without a
 * scheme uses Ollama's port, and a URL uses the default port of its scheme.
 */
export function ollamaBaseUrl(host: string): string {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(host.trim()) ?? [];
  const [, name = "", port, path = ""] = /^(\[[^\]]*\]|[^:/]*)(?::(\d+))?(\/.*)?$/.exec(rest) ?? [rest, rest];
  const usedPort = port ?? (scheme === undefined ? ownPort : undefined);
  const authority = `${name === "" ? "localhost" : name}${usedPort === undefined ? "" : `:${usedPort}`}`;
  return `${scheme?.toLowerCase() ?? "http"}://${authority}${path.replace(/\/+$/, "")}/v1`;
}
