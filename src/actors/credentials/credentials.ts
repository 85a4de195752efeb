import { homedir } from "node:os";
import { systemReason } from "../../base/system-error.js";
import { within } from "../../base/time/waiting.js";
import { type LoginName, loginFacts, type LoginFacts } from "../../config/providers/logins.js";
import type {
  CredentialsAnswers,
  CredentialsEvent,
  CredentialsOp,
  TokenReply,
} from "../../messages/actors/credentials.js";
import type { Config } from "../../messages/settings/config.js";
import { FailureError } from "../../messages/failure-error.js";
import type { TokenSet } from "../../messages/tokens.js";
import { createTransport } from "../../providers/transport/node-transport.js";
import type { Transport } from "../../providers/transport/transport.js";
import type { Ref, Actor } from "../runtime/actor.js";
import { spawn } from "../runtime/spawn.js";
import { borrowedPlaces, type BorrowedPlaces, type FoundTokens, findTokens, originFingerprint } from "./find-tokens.js";
import { loginEndedError, noLoginError, refreshTokens, mergeTokens, fingerprint } from "./oauth-tokens.js";
import { TokenStore } from "./token-store.js";

/** Tokens are renewed this long before they expire, so that none expires in transit. */
const marginMs = 5 * 60_000;

/** Pause before another renewal attempt after one has failed for a token that is still valid. */
const restMs = 30_000;

const deadlineMs = 20_000;

/** Upper bound for a renewal under the lock, including writing its result. */
const renewalMs = deadlineMs + 5_000;

interface CredentialsOptions extends Omit<LoginTokensParts, "facts" | "warn" | "learn"> {
  readonly logins: Config["logins"];
}

/** Caches the tokens of logins and the keys from the keyring, for all conversations of a process. */
const credentials: Actor<CredentialsOp, CredentialsAnswers, CredentialsOptions, CredentialsEvent> = {
  name: "credentials",
  start: ({ logins, ...parts }, { publish }) => {
    const tokensByLogin = new Map<LoginName, LoginTokens>();
    const keys = new Map<string, string>();
    const warn = (message: string): void => publish({ type: "warning", message });
    const learn = (secret: string): void => publish({ type: "secret_learned", secret });

    function loginTokens(name: LoginName): LoginTokens {
      const known =
        tokensByLogin.get(name) ?? new LoginTokens({ ...parts, facts: loginFacts(name, logins), warn, learn });
      tokensByLogin.set(name, known);
      return known;
    }

    return {
      token: ({ login }) => replyOf(login, loginTokens(login).tokens()),
      renew: ({ login, refused }) => replyOf(login, loginTokens(login).renewed(refused)),
      kept_key: async ({ provider }) => {
        const key = keys.get(provider) ?? (await parts.places.keyring.key(provider));
        // A missing key is not cached: a locked keyring may be unlocked next time.
        if (key === undefined) return {};
        learn(key);
        keys.set(provider, key);
        return { key };
      },
    };
  },
};

export interface CredentialsStartOptions {
  /** cody's home directory, where its own tokens are stored. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logins: Config["logins"];
  readonly now: () => number;
  /** Has to reach the redactor of every thread before a token or key is used. */
  readonly onEvent: (event: CredentialsEvent) => void;
}

/**
 * Starts the credentials actor, with the connection it uses to renew tokens. Stopping it waits for renewals in progress:
 * if their answer were lost, the login would be lost too.
 */
export function openCredentials(options: CredentialsStartOptions): Ref<CredentialsOp, CredentialsAnswers> {
  const { home, env, logins, now, onEvent } = options;
  const renewals = new Set<Promise<TokenSet>>();
  const transport = createTransport(env);
  const actorOptions = {
    logins,
    store: new TokenStore(home),
    places: borrowedPlaces(env, homedir),
    transport,
    now,
    onRenewal: (renewal: Promise<TokenSet>): void => {
      renewals.add(renewal);
      const forget = (): boolean => renewals.delete(renewal);
      void renewal.then(forget, forget);
    },
  };
  const ref = spawn(credentials, actorOptions, { onEvent: ({ msg }) => onEvent(msg) });
  return {
    ...ref,
    stop: async () => {
      await ref.stop();
      // The actor's own stop is bounded more tightly than a slow server needs to answer.
      await within(Promise.allSettled(renewals), renewalMs);
      transport.close();
    },
  };
}

async function replyOf(login: LoginName, tokens: Promise<TokenSet>): Promise<TokenReply> {
  try {
    const { accessToken, accountId } = await tokens;
    return { ok: true, token: { token: accessToken, headers: headersOf(login, accountId) } };
  } catch (error) {
    if (error instanceof FailureError) return { ok: false, failure: error.failure };
    throw error;
  }
}

function headersOf(login: LoginName, accountId: string | undefined): Record<string, string> {
  if (login === "claude") return { "anthropic-beta": "oauth-2025-04-20" };
  return { originator: "cody", ...(accountId === undefined ? {} : { "chatgpt-account-id": accountId }) };
}

interface LoginTokensParts {
  readonly facts: LoginFacts;
  readonly store: TokenStore;
  readonly places: BorrowedPlaces;
  readonly transport: Transport;
  readonly now: () => number;
  /** Reports a problem to the user that does not stop the work. */
  readonly warn: (message: string) => void;
  /** Called with every token that is found or received. */
  readonly learn: (secret: string) => void;
  /** Called with every renewal before the server is contacted; it settles when the result is written. */
  readonly onRenewal: (renewal: Promise<TokenSet>) => void;
}

/** The tokens of one login. All callers get the same tokens, which are renewed only once across processes. */
export class LoginTokens {
  readonly #parts: LoginTokensParts;
  #current: TokenSet | undefined;
  /** Whether `#current` could not be written and is newer than the file. */
  #isUnsaved = false;
  #renewing: Promise<TokenSet> | undefined;
  #notBefore = 0;
  /** The fingerprint of a permanently refused refresh token, and the reason. */
  #rejectedRenewal: { readonly fingerprint: string; readonly reason: string } | undefined;

  constructor(parts: LoginTokensParts) {
    this.#parts = parts;
  }

  /** Returns tokens that are valid for a while. Rejects with a `FailureError` when there are none. */
  async tokens(): Promise<TokenSet> {
    this.#current ??= (await this.#find())?.tokens;
    if (this.#current === undefined) throw noLoginError(this.#parts.facts);
    const current = this.#current;
    if (this.#isFresh(current) || this.#mayWait(current)) return current;
    try {
      return await this.#renew(undefined);
    } catch (error) {
      // The held token is still valid for a little while, so the failure is not reported yet.
      if (!(error instanceof FailureError) || this.#hasEnded(current)) throw error;
      this.#notBefore = this.#parts.now() + restMs;
      return current;
    }
  }

  /** Returns tokens other than the refused access token. */
  async renewed(rejectedToken: string): Promise<TokenSet> {
    const current = this.#current;
    if (current !== undefined && current.accessToken !== rejectedToken && this.#isFresh(current)) return current;
    return await this.#renew(rejectedToken);
  }

  #renew(rejectedToken: string | undefined): Promise<TokenSet> {
    if (this.#renewing !== undefined) return this.#renewing;
    const renewal = this.#renewOnce(rejectedToken).finally(() => {
      this.#renewing = undefined;
    });
    this.#renewing = renewal;
    this.#parts.onRenewal(renewal);
    return renewal;
  }

  async #renewOnce(rejectedToken: string | undefined): Promise<TokenSet> {
    const isUsable = ({ accessToken }: TokenSet): boolean => accessToken !== rejectedToken;
    // Most often another process has renewed them already, and the lock is not needed.
    const found = await this.#newest();
    if (found !== undefined && isUsable(found.tokens) && this.#isFresh(found.tokens))
      return this.#setCurrent(found.tokens);
    return await this.#parts.store.locked(async () => {
      const current = await this.#newest();
      if (current === undefined) throw noLoginError(this.#parts.facts);
      if (isUsable(current.tokens) && this.#isFresh(current.tokens)) return this.#setCurrent(current.tokens);
      return await this.#refresh(current);
    });
  }

  /** Call only under the lock: on many servers, using a refresh token twice ends the login. */
  async #refresh(current: FoundTokens): Promise<TokenSet> {
    const { facts, store } = this.#parts;
    const { tokens } = current;
    const { refreshToken } = tokens;
    if (refreshToken === undefined) throw loginEndedError(facts, "it cannot be renewed");
    if (this.#rejectedRenewal?.fingerprint === fingerprint(refreshToken))
      throw loginEndedError(facts, this.#rejectedRenewal.reason);
    const endpoint = { transport: this.#parts.transport, deadlineMs };
    const outcome = await refreshTokens(facts, refreshToken, endpoint);
    if (outcome.status === "answered") {
      const next = mergeTokens(tokens, outcome.answer, this.#parts.now());
      if (next === undefined) throw loginEndedError(facts, "the server returned no new token");
      const root = current.source === store.path ? tokens.root : originFingerprint(current);
      return await this.#save(root === undefined ? next : { ...next, root });
    }
    // The program that owns these tokens may have renewed them at the same time, without our lock.
    const again = await this.#newest();
    if (again !== undefined && again.tokens.accessToken !== tokens.accessToken && this.#isFresh(again.tokens)) {
      return this.#setCurrent(again.tokens);
    }
    if (outcome.status === "failed") throw new FailureError(outcome.failure);
    this.#rejectedRenewal = { fingerprint: fingerprint(refreshToken), reason: outcome.reason };
    throw loginEndedError(facts, outcome.reason);
  }

  /** New tokens that cannot be written are used anyway and kept in memory as the newest ones. */
  async #save(tokens: TokenSet): Promise<TokenSet> {
    const { facts, store } = this.#parts;
    this.#current = tokens;
    this.#learn(tokens);
    try {
      await store.write(facts.name, tokens);
      this.#isUnsaved = false;
    } catch (error) {
      this.#isUnsaved = true;
      const reason = error instanceof FailureError ? error.message : `${store.path}: ${systemReason(error)}`;
      this.#parts.warn(
        `Cannot save the new token of the ${facts.title}: ${reason}. ` +
          "Other and later processes may have to log in again",
      );
    }
    return tokens;
  }

  /** Returns the tokens in the files, unless the held ones are newer and could not be written. */
  async #newest(): Promise<FoundTokens | undefined> {
    const found = await this.#find();
    const current = this.#current;
    if (!this.#isUnsaved || current === undefined) return found;
    const isBehind =
      found?.tokens.refreshToken === undefined || fingerprint(found.tokens.refreshToken) === current.parent;
    return isBehind ? { tokens: current, source: this.#parts.store.path } : found;
  }

  async #find(): Promise<FoundTokens | undefined> {
    const { facts, store, places } = this.#parts;
    const found = await findTokens(facts.name, store, places);
    if (found !== undefined) this.#learn(found.tokens);
    return found;
  }

  #learn({ accessToken, refreshToken }: TokenSet): void {
    this.#parts.learn(accessToken);
    if (refreshToken !== undefined) this.#parts.learn(refreshToken);
  }

  #setCurrent(tokens: TokenSet): TokenSet {
    this.#current = tokens;
    return tokens;
  }

  #isFresh({ expiresAt }: TokenSet): boolean {
    return expiresAt === undefined || expiresAt - marginMs > this.#parts.now();
  }

  #hasEnded({ expiresAt }: TokenSet): boolean {
    return expiresAt !== undefined && expiresAt <= this.#parts.now();
  }

  #mayWait(tokens: TokenSet): boolean {
    return !this.#hasEnded(tokens) && this.#parts.now() < this.#notBefore;
  }
}
