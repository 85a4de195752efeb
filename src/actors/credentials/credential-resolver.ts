import { loginFacts, type LoginName } from "../../config/providers/logins.js";
import { providerOfAuth } from "../../config/providers/choose-provider.js";
import { apiKey, keyVariable, type KeySources } from "../../config/providers/vendors.js";
import type { CredentialsAnswers, CredentialsOp, LoginToken, TokenReply } from "../../messages/actors/credentials.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Access } from "../../providers/credential.js";
import type { Ref } from "../runtime/actor.js";

interface CredentialResolverOptions {
  /** The environment and the configured providers: where API keys come from that are not in the keyring. */
  readonly keys: KeySources;
  /** Called with every token and key before it is used, so that it is redacted wherever text is written to disk. */
  readonly learn: (secret: string) => void;
}

/** Resolves the credentials of requests, for all conversations of a thread. */
export class CredentialResolver {
  readonly #ref: Ref<CredentialsOp, CredentialsAnswers>;
  readonly #keys: KeySources;
  readonly #learn: (secret: string) => void;

  constructor(ref: Ref<CredentialsOp, CredentialsAnswers>, { keys, learn }: CredentialResolverOptions) {
    this.#ref = ref;
    this.#keys = keys;
    this.#learn = learn;
  }

  /** Chooses the credential for a provider: the token of a login if one was chosen, otherwise an API key. */
  accessTo({ provider, login }: { readonly provider: string; readonly login?: LoginName }): Access {
    if (login === undefined) {
      return { origin: keyOrigin(provider, this.#keys), credential: (signal) => this.#key(provider, signal) };
    }
    const { title, remedy } = loginFacts(login);
    return {
      origin: `The token comes from the ${title}. ${remedy}`,
      credential: async (signal) => this.#token(await this.#ref.ask({ type: "token", login }, signal)),
      renewed: async ({ token }, signal) =>
        this.#token(await this.#ref.ask({ type: "renew", login, refused: token }, signal)),
    };
  }

  #key(provider: string, signal: AbortSignal): string | undefined | Promise<string | undefined> {
    if (this.#keys.providers?.[provider]?.keyring !== true) return apiKey(provider, this.#keys);
    return this.#storedKey(provider, signal);
  }

  async #storedKey(provider: string, signal: AbortSignal): Promise<string> {
    const { key } = await this.#ref.ask({ type: "kept_key", provider }, signal);
    if (key !== undefined) {
      this.#learn(key);
      return key;
    }
    const message = `no key in the keyring, or the keyring is locked. Run: cody set-auth ${provider}-api-key - --keyring`;
    throw new FailureError({ code: "auth", message, retryable: false });
  }

  #token(reply: TokenReply): LoginToken {
    if (!reply.ok) throw new FailureError(reply.failure);
    this.#learn(reply.token.token);
    return reply.token;
  }
}

function keyOrigin(provider: string, { env, providers = {} }: KeySources): string {
  const method = Object.entries(providerOfAuth).find(
    ([name, owner]) => owner === provider && name.endsWith("-api-key"),
  );
  const save = method === undefined ? `cody config set providers.${provider}.apiKey -` : `cody set-auth ${method[0]} -`;
  const variable = keyVariable(provider);
  if (providers[provider]?.keyring === true) {
    return `The API key comes from the system keyring. To change it, run: ${save} --keyring`;
  }
  if (providers[provider]?.apiKey !== undefined) {
    return `The API key comes from providers.${provider}.apiKey in the configuration. To change it, run: ${save}`;
  }
  return apiKey(provider, { env }) === undefined
    ? `No API key is set. To set one, export ${variable} or run: ${save}`
    : `The API key comes from ${variable}. To change it, set that variable or run: ${save}`;
}
