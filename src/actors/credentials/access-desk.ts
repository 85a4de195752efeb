import { homedir } from "node:os";
import type { LoginName } from "../../config/logins.js";
import { codyHome } from "../../config/paths.js";
import { apiKey, type KeySources } from "../../config/vendors.js";
import type { Config } from "../../messages/config.js";
import { FailureError } from "../../messages/errors.js";
import type { TokenSet } from "../../messages/tokens.js";
import type { Access, LoginToken } from "../../providers/credential.js";
import type { Transport } from "../../providers/transport.js";
import type { Ref } from "../system/actor.js";
import { spawn } from "../system/spawn.js";
import { within } from "../system/within.js";
import { borrowedPlaces } from "./borrowed-tokens.js";
import { credentials, type CredentialsAnswers, type CredentialsOp, type TokenReply } from "./credentials.js";
import { renewalMs } from "./login-keeper.js";
import { TokenStore } from "./token-file.js";

export interface AccessOptions {
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: Pick<Config, "providers" | "logins">;
  readonly now: () => number;
  /** Something a person should know, although all goes on. */
  readonly warn: (message: string) => void;
  /** Told of every token and key that is found, so that none is written to the disk elsewhere. */
  readonly learn: (secret: string) => void;
}

/** Where requests get what proves who asks, for all conversations of a manager. */
export class AccessDesk {
  readonly #ref: Ref<CredentialsOp, CredentialsAnswers>;
  readonly #keys: KeySources;
  readonly #renewals = new Set<Promise<TokenSet>>();
  #transport: Promise<Transport> | undefined;

  constructor({ home, env, config, now, warn, learn }: AccessOptions) {
    this.#keys = { env, providers: config.providers };
    const options = {
      logins: config.logins,
      store: new TokenStore(home ?? codyHome({ env, homedir: homedir() })),
      places: borrowedPlaces(env, homedir),
      fetch: async () => (await (this.#transport ??= connect(env))).fetch,
      now,
      learn,
      onRenewal: (renewal: Promise<TokenSet>) => this.#track(renewal),
    };
    this.#ref = spawn(credentials, options, { onEvent: ({ msg }) => warn(msg.message) });
  }

  /** How a provider is told who asks: with the token of a login where one was chosen, else with a key. */
  accessTo({ provider, login }: { readonly provider: string; readonly login?: LoginName }): Access {
    if (login === undefined) return { credential: (signal) => this.#key(provider, signal) };
    return {
      credential: async (signal) => tokenIn(await this.#ref.ask({ type: "token", login }, signal)),
      renewed: async ({ token }, signal) =>
        tokenIn(await this.#ref.ask({ type: "renew", login, refused: token }, signal)),
    };
  }

  /** Waits for tokens that are just being renewed: an answer that nobody hears is a login that is lost. */
  async stop(): Promise<void> {
    await this.#ref.stop();
    // The actor gives up sooner than a slow server has answered and its answer is written.
    await within(Promise.allSettled(this.#renewals), renewalMs);
    (await this.#transport)?.close();
  }

  #track(renewal: Promise<TokenSet>): void {
    this.#renewals.add(renewal);
    const forget = (): boolean => this.#renewals.delete(renewal);
    void renewal.then(forget, forget);
  }

  #key(provider: string, signal: AbortSignal): string | undefined | Promise<string | undefined> {
    if (this.#keys.providers?.[provider]?.keyring !== true) return apiKey(provider, this.#keys);
    return this.#keptKey(provider, signal);
  }

  async #keptKey(provider: string, signal: AbortSignal): Promise<string> {
    const key = await this.#ref.ask({ type: "kept_key", provider }, signal);
    if (key !== undefined) return key;
    const message = `there is no key in the keyring, or it is locked. Run: cody set-auth ${provider}-api-key - --keyring`;
    throw new FailureError({ code: "auth", message, retryable: false });
  }
}

function tokenIn(reply: TokenReply): LoginToken {
  if (reply.ok) return reply.token;
  throw new FailureError(reply.failure);
}

/** Loaded on first use: most need no new token. */
async function connect(env: AccessOptions["env"]): Promise<Transport> {
  const { createTransport } = await import("../../providers/node-transport.js");
  return createTransport(env);
}
