import type { Config, WireApi } from "../../messages/settings/config.js";
import { chosenLogin, type LoginName } from "./logins.js";
import { resolveModel } from "../models/models.js";
import { nearestName } from "../../base/text/nearest-name.js";
import { providersWithKey, providerServing, providerOfKey, providerOfModel } from "./choose-provider.js";
import {
  apiProblem,
  hasKey,
  keyVariable,
  baseUrlFromEnvironment,
  type Vendor,
  vendorNames,
  vendorOf,
} from "./vendors.js";

interface ResolveProviderInput {
  readonly config: Pick<Config, "provider" | "api" | "model" | "baseUrl" | "providers" | "models" | "auth">;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The providers inside this process, which need no key and no address: the offline one and injected ones. */
  readonly inProcess: ReadonlySet<string>;
  /** Set by callers that only read or copy a conversation and do not need a key yet. */
  readonly withoutKey?: boolean | undefined;
  /** Only `chat` may fall back to the offline model. */
  readonly command: "chat" | "other";
}

export type ResolvedProvider =
  | {
      readonly ok: true;
      readonly provider: string;
      /** Absent for a provider inside this process. */
      readonly api?: WireApi;
      readonly model: string;
      /** Absent for the vendor's default address. */
      readonly baseUrl?: string;
      /** The login used instead of a key. */
      readonly login?: LoginName;
      readonly notice?: string;
    }
  | { readonly ok: false; readonly message: string };

/** The two providers that messages suggest. */
const suggested = ["openai", "anthropic"];
const useOffline = "Or use the built-in offline model: cody set-provider offline";

export function resolveProvider(input: ResolveProviderInput): ResolvedProvider {
  const { provider, model } = input.config;
  if (provider !== undefined) return named(input, provider);
  return model === undefined ? unnamed(input) : ofModel(input, model);
}

/** If the owner of a model is only a guess and that guess has no key, the message names the other candidates. */
function ofModel(input: ResolveProviderInput, model: string): ResolvedProvider {
  const { models = {}, providers, auth } = input.config;
  const keys = { env: input.env, providers, auth };
  const provider = providerOfModel(model, models, keys);
  const found = named(input, provider);
  const isGuess = providerServing(model, models) === undefined && auth === undefined && !hasKey(provider, keys);
  if (found.ok || !isGuess) return found;
  const choices = providersWithKey(keys).map((holder) => `--provider ${holder}`);
  return choices.length > 1
    ? refused(`Unknown model ${model}, and several providers have a key.\nChoose one: ${choices.join(" or ")}`)
    : refused(`${found.message}\nIf another provider serves ${model}, pass --provider <name>`);
}

function named(input: ResolveProviderInput, provider: string): ResolvedProvider {
  const { config, inProcess } = input;
  if (provider === "offline" && config.model !== undefined && config.model !== "offline") {
    return refused(
      `The offline provider has no model ${config.model}.\nRun: cody set-provider offline --model offline`,
    );
  }
  if (inProcess.has(provider)) return { ok: true, provider, model: config.model ?? provider };
  const vendor = vendorOf(provider) ?? compatible(configuredAddress(config, provider));
  const configured = Object.keys(config.providers ?? {});
  return vendor === undefined
    ? refused(unknownProvider(provider, [...inProcess, ...configured]).join("\n"))
    : reached(input, provider, vendor);
}

/** An address set for this run wins over the provider's configured address. */
function configuredAddress(
  { baseUrl, providers = {} }: ResolveProviderInput["config"],
  provider: string,
): string | undefined {
  return baseUrl ?? providers[provider]?.baseUrl;
}

/** A server of which only the address is known. */
function compatible(baseUrl: string | undefined): Vendor | undefined {
  return baseUrl === undefined ? undefined : { apis: ["chat", "responses", "messages"], baseUrl };
}

function reached(
  { config, env, withoutKey }: ResolveProviderInput,
  provider: string,
  vendor: Vendor,
): ResolvedProvider {
  const { key, apis } = vendor;
  const login = chosenLogin(config.auth, provider);
  const api = config.api ?? login?.api ?? apis[0];
  const problem = apiProblem(provider, api);
  if (problem !== undefined) return refused(problem);
  if (login !== undefined && api !== login.api) {
    return refused(`A ${login.title} works with the ${login.api} API, not ${api}`);
  }
  const needsKey = key !== undefined && login === undefined && withoutKey !== true;
  if (needsKey && !hasKey(provider, { env, providers: config.providers })) {
    return refused(`${key.missing}\nGet a key: ${key.page}`);
  }
  // An address in the environment is meant for keys; it must not receive a login's token.
  const defaultUrl =
    login?.baseUrl ?? (login === undefined ? baseUrlFromEnvironment(provider, env) : undefined) ?? vendor.baseUrl;
  const baseUrl = configuredAddress(config, provider) ?? defaultUrl;
  if (baseUrl !== undefined && !isAddress(baseUrl)) {
    return refused(`${vendor.baseUrlOf?.variable ?? "baseUrl"}: expected an http or https URL`);
  }
  const model =
    config.model === undefined ? (login?.model ?? vendor.model) : ownName(config.model, provider, config.models);
  if (model === undefined) {
    return refused(`No model set for ${provider}.\nRun: cody set-provider ${provider} --model <model>`);
  }
  return {
    ok: true,
    provider,
    api,
    model,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(login === undefined ? {} : { login: login.name }),
  };
}

/**
 * The name by which the provider knows a model. Another provider's model is passed through for the provider to reject.
 */
function ownName(name: string, provider: string, models: Config["models"] = {}): string {
  const owner = providerServing(name, models);
  return owner === undefined || owner === provider ? resolveModel(name, models).id : name;
}

/** The same rule as for configured addresses: no user name and password, because addresses appear in messages. */
function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === "http:" || protocol === "https:") && username === "" && password === "";
}

/** Names the known providers, which are the vendors and `others`, and explains how to add one. */
export function unknownProvider(provider: string, others: Iterable<string>): [string, ...string[]] {
  const known = [...new Set([...vendorNames, ...others])].filter((name) => name !== provider).toSorted();
  const near = nearestName(provider, known);
  return [
    `Unknown provider '${provider}'${near === undefined ? "" : `. Did you mean ${near}?`}`,
    `Known providers: ${known.join(", ")}`,
    `To add a provider of your own: cody set-provider ${provider} --base-url <url> --model <model>`,
  ];
}

function unnamed(input: ResolveProviderInput): ResolvedProvider {
  const { providers, auth } = input.config;
  const provider = providerOfKey({ env: input.env, providers, auth });
  if (provider !== undefined) {
    const model = auth === undefined ? vendorOf(provider)?.unnamedModel : undefined;
    return named(model === undefined ? input : { ...input, config: { ...input.config, model } }, provider);
  }
  const reason = `No ${suggested.map(keyVariable).join(" or ")} is set`;
  if (input.command === "other") {
    const pages = suggested.map((candidate) => `Get a key: ${vendorOf(candidate)?.key?.page}`);
    return refused([`${reason}.`, ...pages, useOffline].join("\n"));
  }
  const notice = `${reason}: using the built-in offline model. To add a key: cody set-auth openai-api-key -`;
  return { ok: true, provider: "offline", model: "offline", notice };
}

function refused(message: string): ResolvedProvider {
  return { ok: false, message };
}
