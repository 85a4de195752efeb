import type { LoginFacts } from "../../config/providers/logins.js";
import type { TokenSet } from "../../messages/tokens.js";
import type { BorrowedPlaces, FoundTokens } from "./borrowed-tokens.js";
import { findTokens, originFingerprint } from "./find-tokens.js";
import { loginEndedError, noLoginError, refreshTokens } from "./token-endpoint.js";
import { mergeTokens, fingerprint } from "./token-claims.js";
import type { TokenStore } from "./token-file.js";
import { systemReason } from "../../base/system-error.js";
import { FailureError } from "../../messages/failure-error.js";

/** Tokens are renewed this long before they expire, so that none expires in transit. */
const marginMs = 5 * 60_000;
/** Pause before another renewal attempt after one has failed for a token that is still valid. */
const restMs = 30_000;
const deadlineMs = 20_000;
/** Upper bound for a renewal under the lock, including writing its result. */
export const renewalMs = deadlineMs + 5_000;

export interface LoginTokensParts {
  readonly facts: LoginFacts;
  readonly store: TokenStore;
  readonly places: BorrowedPlaces;
  readonly fetch: typeof fetch;
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
  #held: TokenSet | undefined;
  /** Whether `#held` could not be written and is newer than the file. */
  #isUnsaved = false;
  #renewing: Promise<TokenSet> | undefined;
  #notBefore = 0;
  /** The fingerprint of a permanently refused refresh token, and the reason. */
  #refused: { readonly fingerprint: string; readonly reason: string } | undefined;

  constructor(parts: LoginTokensParts) {
    this.#parts = parts;
  }

  /** Returns tokens that are valid for a while. Rejects with a `FailureError` when there are none. */
  async tokens(): Promise<TokenSet> {
    this.#held ??= (await this.#find())?.tokens;
    if (this.#held === undefined) throw noLoginError(this.#parts.facts);
    const held = this.#held;
    if (this.#isFresh(held) || this.#mayWait(held)) return held;
    try {
      return await this.#renew(undefined);
    } catch (error) {
      // The held token is still valid for a little while, so the failure is not reported yet.
      if (!(error instanceof FailureError) || this.#hasEnded(held)) throw error;
      this.#notBefore = this.#parts.now() + restMs;
      return held;
    }
  }

  /** Returns tokens other than the refused access token. */
  async renewed(refused: string): Promise<TokenSet> {
    const held = this.#held;
    if (held !== undefined && held.accessToken !== refused && this.#isFresh(held)) return held;
    return await this.#renew(refused);
  }

  #renew(refused: string | undefined): Promise<TokenSet> {
    if (this.#renewing !== undefined) return this.#renewing;
    const renewal = this.#renewOnce(refused).finally(() => {
      this.#renewing = undefined;
    });
    this.#renewing = renewal;
    this.#parts.onRenewal(renewal);
    return renewal;
  }

  async #renewOnce(refused: string | undefined): Promise<TokenSet> {
    const isUsable = ({ accessToken }: TokenSet): boolean => accessToken !== refused;
    // Most often another process has renewed them already, and the lock is not needed.
    const found = await this.#newest();
    if (found !== undefined && isUsable(found.tokens) && this.#isFresh(found.tokens)) return this.#hold(found.tokens);
    return await this.#parts.store.locked(async () => {
      const current = await this.#newest();
      if (current === undefined) throw noLoginError(this.#parts.facts);
      if (isUsable(current.tokens) && this.#isFresh(current.tokens)) return this.#hold(current.tokens);
      return await this.#refresh(current);
    });
  }

  /** Call only under the lock: on many servers, using a refresh token twice ends the login. */
  async #refresh(current: FoundTokens): Promise<TokenSet> {
    const { facts, store } = this.#parts;
    const { tokens } = current;
    const { refreshToken } = tokens;
    if (refreshToken === undefined) throw loginEndedError(facts, "it cannot be renewed");
    if (this.#refused?.fingerprint === fingerprint(refreshToken)) throw loginEndedError(facts, this.#refused.reason);
    const endpoint = { fetch: this.#parts.fetch, deadlineMs };
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
      return this.#hold(again.tokens);
    }
    if (outcome.status === "failed") throw new FailureError(outcome.failure);
    this.#refused = { fingerprint: fingerprint(refreshToken), reason: outcome.reason };
    throw loginEndedError(facts, outcome.reason);
  }

  /** New tokens that cannot be written are used anyway and kept in memory as the newest ones. */
  async #save(tokens: TokenSet): Promise<TokenSet> {
    const { facts, store } = this.#parts;
    this.#held = tokens;
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
    const held = this.#held;
    if (!this.#isUnsaved || held === undefined) return found;
    const isBehind = found?.tokens.refreshToken === undefined || fingerprint(found.tokens.refreshToken) === held.parent;
    return isBehind ? { tokens: held, source: this.#parts.store.path } : found;
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

  #hold(tokens: TokenSet): TokenSet {
    this.#held = tokens;
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
