import type { AuthProvider } from "@modelcontextprotocol/client";
import { systemReason } from "../../../base/system-error.js";
import type { McpLogin } from "../../../messages/tokens.js";
import { TokenStore } from "../../credentials/token-store.js";
import { within } from "../../../base/time/waiting.js";
import { authFetch, toMcpLogin } from "./auth-fetch.js";
import { FailureError } from "../../../messages/failure-error.js";

interface ServerLoginParts {
  /** The server's configured name. */
  readonly name: string;
  readonly url: string;
  readonly home: string;
  readonly fetch: typeof globalThis.fetch;
  /** Called with every token that is read or received. */
  readonly learn: (secret: string) => void;
  /** Reports a problem to the user that does not stop the work. */
  readonly warn: (message: string) => void;
}

/** Tokens are renewed this long before they expire, so that none expires in transit. */
const marginMs = 10_000;
/** Upper bound for a renewal. */
const renewalMs = 25_000;
/** The known form of error names. Other text is not repeated, because it might contain the token. */
const errorName = /^[a-z_]{1,60}$/;
/** Temporary errors, which do not mean that the login is invalid. */
const passing: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable"]);

/** Authenticates requests to a server the user has logged in to. Tokens are renewed only once across processes. */
export class ServerLogin implements AuthProvider {
  readonly #parts: ServerLoginParts;
  readonly #store: TokenStore;
  #current: McpLogin | undefined;
  /** A refresh token that is used up but still in the file, because the new tokens could not be written. */
  #usedRefreshToken: string | undefined;
  #renewing: Promise<McpLogin> | undefined;

  constructor(parts: ServerLoginParts) {
    this.#parts = parts;
    this.#store = new TokenStore(parts.home);
  }

  async token(): Promise<string | undefined> {
    this.#current ??= await this.#read();
    if (this.#current === undefined) return undefined;
    return (isFresh(this.#current) ? this.#current : await this.#renewed(undefined)).accessToken;
  }

  /** Called when the server has refused the token. */
  async onUnauthorized(): Promise<void> {
    const rejectedToken = this.#current?.accessToken;
    if (rejectedToken === undefined) throw new Error(`login required. Run: cody mcp login ${this.#parts.name}`);
    await this.#renewed(rejectedToken);
  }

  /** Waits for a renewal in progress: if its answer were not saved, the login would be lost. */
  async settled(): Promise<void> {
    if (this.#renewing !== undefined)
      await within(
        this.#renewing.catch(() => undefined),
        renewalMs,
      );
  }

  #renewed(rejectedToken: string | undefined): Promise<McpLogin> {
    this.#renewing ??= this.#store
      .locked(async () => await this.#renew(rejectedToken))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  /** Call only under the lock: with many issuers, using a refresh token twice ends the login. */
  async #renew(rejectedToken: string | undefined): Promise<McpLogin> {
    const found = await this.#read();
    if (found === undefined) throw this.#endedError("it is gone");
    const current =
      found.refreshToken !== undefined && found.refreshToken === this.#usedRefreshToken
        ? (this.#current ?? found)
        : found;
    // Most often another process has renewed it already, or the user has logged in again.
    if (current.accessToken !== rejectedToken && isFresh(current)) return (this.#current = current);
    const next = await this.#ask(current);
    this.#learn(next);
    this.#current = next;
    await this.#write(next, found.refreshToken);
    return next;
  }

  /** New tokens that cannot be written are used anyway. */
  async #write(next: McpLogin, replaced: string | undefined): Promise<void> {
    try {
      await this.#store.writeMcp(this.#parts.url, next);
      this.#usedRefreshToken = undefined;
    } catch (error) {
      this.#usedRefreshToken = replaced;
      const why = error instanceof FailureError ? error.message : systemReason(error);
      this.#parts.warn(`cannot save the new token of its login (${why}); other processes may have to log in again`);
    }
  }

  async #ask({ issuer, refreshToken }: McpLogin): Promise<McpLogin> {
    if (refreshToken === undefined) throw this.#endedError("it cannot be renewed");
    const sdk = await import("@modelcontextprotocol/client");
    const { url, client, metadata, resource } = issuer;
    try {
      const tokens = await sdk.refreshAuthorization(url, {
        ...(metadata === undefined ? {} : { metadata }),
        ...(resource === undefined ? {} : { resource }),
        clientInformation: client,
        refreshToken,
        fetchFn: authFetch(this.#parts.fetch, new URL(this.#parts.url)),
      });
      return toMcpLogin(tokens, issuer, Date.now());
    } catch (error) {
      if (!(error instanceof sdk.OAuthError) || passing.has(error.code)) {
        throw new Error("cannot renew its login: its issuer sent an invalid answer", { cause: error });
      }
      throw this.#endedError(errorName.test(error.code) ? error.code : "refused");
    }
  }

  async #read(): Promise<McpLogin | undefined> {
    const found = await this.#store.readMcp(this.#parts.url);
    if (found !== undefined) this.#learn(found);
    return found;
  }

  #learn({ accessToken, refreshToken, issuer }: McpLogin): void {
    for (const secret of [accessToken, refreshToken, issuer.client.client_secret]) {
      if (secret !== undefined) this.#parts.learn(secret);
    }
  }

  #endedError(reason: string): FailureError {
    const message = `its login is no longer valid (${reason}). Run: cody mcp login ${this.#parts.name}`;
    return new FailureError({ code: "auth", message, retryable: false });
  }
}

function isFresh({ expiresAt }: McpLogin): boolean {
  return expiresAt === undefined || expiresAt - marginMs > Date.now();
}
