import type { LoginFacts } from "../../config/providers/logins.js";
import type { TokenSet } from "../../messages/tokens.js";
import type { BorrowedPlaces, FoundTokens } from "./borrowed-tokens.js";
import { findTokens, rootOf } from "./find-tokens.js";
import { endedLogin, noLogin, refreshTokens } from "./token-endpoint.js";
import { answeredTokens, fingerprint } from "./token-claims.js";
import type { TokenStore } from "./token-file.js";
import { systemReason } from "../../base/system-error.js";
import { FailureError } from "../../messages/failure.js";

/** A token is renewed so long before it ends, so that none ends on its way. */
const marginMs = 5 * 60_000;
/** After a server could not renew a token that is still good, it is not asked again for so long. */
const restMs = 30_000;
const deadlineMs = 20_000;
/** A renewal that has the lock is over by then: the server has answered or not, and the answer is written. */
export const renewalMs = deadlineMs + 5_000;

export interface KeeperParts {
  readonly facts: LoginFacts;
  readonly store: TokenStore;
  readonly places: BorrowedPlaces;
  readonly fetch: typeof fetch;
  readonly now: () => number;
  /** Something a person should know, although all goes on. */
  readonly warn: (message: string) => void;
  /** Told of every token that is found or given. */
  readonly learn: (secret: string) => void;
  /** Given every renewal, from before the server is asked until its answer is written. */
  readonly onRenewal: (renewal: Promise<TokenSet>) => void;
}

/** The tokens of one login. Whoever needs one gets the same; they are renewed once, whoever asks in whatever process. */
export class LoginKeeper {
  readonly #parts: KeeperParts;
  #held: TokenSet | undefined;
  /** Whether what is held could not be written, and is newer than what is in the file. */
  #isUnsaved = false;
  #renewing: Promise<TokenSet> | undefined;
  #notBefore = 0;
  /** The fingerprint of a refresh token that was refused for good, and why. */
  #refused: { readonly fingerprint: string; readonly reason: string } | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** One that is good for a while. Rejects with a `FailureError` when there is none. */
  async tokens(): Promise<TokenSet> {
    this.#held ??= (await this.#find())?.tokens;
    if (this.#held === undefined) throw noLogin(this.#parts.facts);
    const held = this.#held;
    if (this.#isFresh(held) || this.#mayWait(held)) return held;
    try {
      return await this.#renew(undefined);
    } catch (error) {
      // It is good for a little while yet: nobody need hear of it before.
      if (!(error instanceof FailureError) || this.#hasEnded(held)) throw error;
      this.#notBefore = this.#parts.now() + restMs;
      return held;
    }
  }

  /** Others than those with this access token, which a server has refused. */
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
    // Most often another process has done it by now, and nobody needs the lock.
    const found = await this.#newest();
    if (found !== undefined && isUsable(found.tokens) && this.#isFresh(found.tokens)) return this.#hold(found.tokens);
    return await this.#parts.store.locked(async () => {
      const current = await this.#newest();
      if (current === undefined) throw noLogin(this.#parts.facts);
      if (isUsable(current.tokens) && this.#isFresh(current.tokens)) return this.#hold(current.tokens);
      return await this.#refresh(current);
    });
  }

  /** Only under the lock: a refresh token that is used twice ends the login on many a server. */
  async #refresh(current: FoundTokens): Promise<TokenSet> {
    const { facts, store } = this.#parts;
    const { tokens } = current;
    const { refreshToken } = tokens;
    if (refreshToken === undefined) throw endedLogin(facts, "it cannot be renewed");
    if (this.#refused?.fingerprint === fingerprint(refreshToken)) throw endedLogin(facts, this.#refused.reason);
    const endpoint = { fetch: this.#parts.fetch, deadlineMs };
    const outcome = await refreshTokens(facts, refreshToken, endpoint);
    if (outcome.status === "answered") {
      const next = answeredTokens(tokens, outcome.answer, this.#parts.now());
      if (next === undefined) throw endedLogin(facts, "the server gave no new token");
      const root = current.source === store.path ? tokens.root : rootOf(current);
      return await this.#save(root === undefined ? next : { ...next, root });
    }
    // The program whose tokens these are may have renewed them beside us, without our lock.
    const again = await this.#newest();
    if (again !== undefined && again.tokens.accessToken !== tokens.accessToken && this.#isFresh(again.tokens)) {
      return this.#hold(again.tokens);
    }
    if (outcome.status === "failed") throw new FailureError(outcome.failure);
    this.#refused = { fingerprint: fingerprint(refreshToken), reason: outcome.reason };
    throw endedLogin(facts, outcome.reason);
  }

  /** New tokens that cannot be written are used all the same, and written at the next chance. */
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
        `The new token of the ${facts.title} could not be written: ${reason}. ` +
          "Other processes, and later ones, may have to log in again",
      );
    }
    return tokens;
  }

  /** What is in the files, unless what is held came after it and could not be written. */
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
