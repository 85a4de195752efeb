import type { AuthMethod, Config, WireApi } from "../../messages/config.js";

const ownPort = "11434";

type Env = Readonly<NodeJS.ProcessEnv>;

/** What is known about a provider by its name alone. */
export interface Vendor {
  /** The wire APIs it speaks; the first unless one is named. */
  readonly apis: readonly [WireApi, ...WireApi[]];
  /** Undefined: the address the vendor's SDK knows. */
  readonly baseUrl?: string;
  /** The address the environment says. */
  readonly baseUrlOf?: { readonly variable: string; readonly read: (value: string) => string };
  /** For who answers nobody without a key. */
  readonly key?: { readonly missing: string; readonly page: string };
  /** Answers when the provider is named and the model is not. Undefined where there is none that everybody has. */
  readonly model?: string;
  /** Answers instead when neither is named, and only a key tells which provider is meant. */
  readonly unnamedModel?: string;
}

const vendors: ReadonlyMap<string, Vendor> = new Map<string, Vendor>([
  [
    "openai",
    {
      apis: ["responses", "chat"],
      baseUrlOf: { variable: "OPENAI_BASE_URL", read: asWritten },
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
      baseUrlOf: { variable: "ANTHROPIC_BASE_URL", read: asWritten },
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

export function vendorOf(provider: string): Vendor | undefined {
  return vendors.get(provider);
}

/** Why a provider cannot be spoken to so; undefined when it can, or nobody knows. */
export function apiProblem(provider: string, api: WireApi): string | undefined {
  const apis = vendors.get(provider)?.apis;
  return apis === undefined || apis.includes(api) ? undefined : `${provider} speaks ${apis.join(" and ")}, not ${api}`;
}

/** The address the environment says for a provider; undefined when it says none. */
export function saidBaseUrl(provider: string, env: Env): string | undefined {
  const said = vendors.get(provider)?.baseUrlOf;
  const value = said === undefined ? "" : (env[said.variable] ?? "").trim();
  return value === "" ? undefined : said?.read(value);
}

/** Where a provider's key is looked for, known or not. */
export function keyVariable(provider: string): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_API_KEY`;
}

/** Where keys are. What is configured comes before what lies around in the environment. */
export interface KeySources {
  readonly env: Env;
  readonly providers?: Config["providers"];
  /** Which of them a person has chosen. */
  readonly auth?: AuthMethod | undefined;
}

/** Undefined when there is none, also where none is needed. */
export function apiKey(provider: string, { env, providers = {} }: KeySources): string | undefined {
  return providers[provider]?.apiKey ?? (env[keyVariable(provider)]?.trim() || undefined);
}

/** Also one that is in the keyring, which is asked only when the key is needed. */
export function hasKey(provider: string, sources: KeySources): boolean {
  return sources.providers?.[provider]?.keyring === true || apiKey(provider, sources) !== undefined;
}

export function configuredKeys(providers: Config["providers"] = {}): string[] {
  return Object.values(providers).flatMap(({ apiKey: key }) => (key === undefined ? [] : [key]));
}

function asWritten(value: string): string {
  return value;
}

/**
 * The address Ollama's own variable stands for: a host, a port, both, or a whole URL. As Ollama has it, a host without
 * a scheme is on Ollama's port, and a URL on its scheme's.
 */
export function ollamaBaseUrl(host: string): string {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(host.trim()) ?? [];
  const [, name = "", port, path = ""] = /^(\[[^\]]*\]|[^:/]*)(?::(\d+))?(\/.*)?$/.exec(rest) ?? [rest, rest];
  const usedPort = port ?? (scheme === undefined ? ownPort : undefined);
  const authority = `${name === "" ? "localhost" : name}${usedPort === undefined ? "" : `:${usedPort}`}`;
  return `${scheme?.toLowerCase() ?? "http"}://${authority}${path.replace(/\/+$/, "")}/v1`;
}
