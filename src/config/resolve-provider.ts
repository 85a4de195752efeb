import type { Config, WireApi } from "../messages/config.js";

export interface ResolveProviderInput {
  readonly config: Pick<Config, "provider" | "api" | "model">;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The providers this version has. */
  readonly available: ReadonlySet<string>;
  /** Only who talks may fall back to the offline model. */
  readonly command: "chat" | "other";
}

export type ResolvedProvider =
  | {
      readonly ok: true;
      readonly provider: string;
      readonly api?: WireApi;
      readonly model: string;
      readonly notice?: string;
    }
  | { readonly ok: false; readonly message: string };

interface Vendor {
  readonly keyVariable: string;
  readonly missing: string;
  readonly keyPage: string;
  readonly model: string;
}

const vendors: ReadonlyMap<string, Vendor> = new Map([
  [
    "openai",
    {
      keyVariable: "OPENAI_API_KEY",
      missing: "OPENAI_API_KEY environment variable is required for OpenAI models.",
      keyPage: "https://platform.openai.com/api-keys",
      model: "gpt-4o",
    },
  ],
  [
    "anthropic",
    {
      keyVariable: "ANTHROPIC_API_KEY",
      missing: "ANTHROPIC_API_KEY environment variable is required.",
      keyPage: "https://console.anthropic.com/settings/keys",
      model: "claude-sonnet-4-20250514",
    },
  ],
  [
    "openrouter",
    {
      keyVariable: "OPENROUTER_API_KEY",
      missing: "OPENROUTER_API_KEY environment variable is required for OpenRouter models.",
      keyPage: "https://openrouter.ai/keys",
      model: "openrouter/auto",
    },
  ],
]);
/** Whose key is looked for when nothing is named, in this order. */
const guessed = ["openai", "anthropic"];
const useOffline = "Or use the built-in offline model: cody set-provider offline";

export function resolveProvider(input: ResolveProviderInput): ResolvedProvider {
  const { provider, model } = input.config;
  if (provider !== undefined) return named(input, provider);
  return model === undefined ? unnamed(input) : named(input, providerOfModel(model));
}

/** The provider a model's name stands for; who has an unusual name is taken for Anthropic's. */
function providerOfModel(model: string): string {
  if (model === "offline") return "offline";
  return /^(?:gpt-|o\d)/.test(model) ? "openai" : "anthropic";
}

function named({ config, env, available }: ResolveProviderInput, provider: string): ResolvedProvider {
  const vendor = vendors.get(provider);
  if (vendor !== undefined && !hasKey(env, vendor)) {
    return { ok: false, message: `${vendor.missing}\nGet a key: ${vendor.keyPage}` };
  }
  if (!available.has(provider)) {
    const have = [...available].toSorted().join(", ");
    return { ok: false, message: `This version of cody has no provider ${provider}. It has: ${have}.\n${useOffline}` };
  }
  if (provider === "offline" && config.model !== undefined && config.model !== "offline") {
    const message = `The offline provider has no model ${config.model}.\nRun: cody set-provider offline --model offline`;
    return { ok: false, message };
  }
  const model = config.model ?? vendor?.model ?? provider;
  return { ok: true, provider, ...apiOf(config), model };
}

function unnamed({ config, env, available, command }: ResolveProviderInput): ResolvedProvider {
  const withKey = guessed.filter((provider) => hasKey(env, vendors.get(provider)));
  const provider = withKey.find((candidate) => available.has(candidate));
  const model = vendors.get(provider ?? "")?.model;
  if (provider !== undefined && model !== undefined) {
    return { ok: true, provider, ...apiOf(config), model };
  }
  const [found] = withKey;
  const reason =
    found === undefined
      ? `No ${guessed.map(keyVariable).join(" or ")} is set`
      : `${keyVariable(found)} is set, but this version of cody has no provider ${found} yet`;
  if (command === "other" || !available.has("offline")) {
    const pages = guessed.map((candidate) => `Get a key: ${vendors.get(candidate)?.keyPage}`);
    return { ok: false, message: [`${reason}.`, ...(found === undefined ? pages : []), useOffline].join("\n") };
  }
  const notice = `${reason}: using the built-in offline model.`;
  return { ok: true, provider: "offline", model: "offline", notice };
}

function keyVariable(provider: string): string {
  return vendors.get(provider)?.keyVariable ?? "";
}

function hasKey(env: Readonly<NodeJS.ProcessEnv>, vendor: Vendor | undefined): boolean {
  return vendor !== undefined && (env[vendor.keyVariable] ?? "").trim() !== "";
}

function apiOf({ api }: Pick<Config, "api">): { api?: WireApi } {
  return api === undefined ? {} : { api };
}
