import { createHash, timingSafeEqual, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Deferred } from "../../../base/time/waiting.js";
import type { LoginFacts } from "../../../config/providers/logins.js";
import { CommandError, exitCodes } from "../../command-error.js";

/** A browser opens a few connections; there are no other legitimate clients. */
const maxConnections = 20;
const path = "/auth/callback";
/** Error names as in the OAuth standard; any other text is not repeated to the user. */
const errorName = /^[a-z_]{1,60}$/;

/** The browser's request with the login result, which still waits for its response page. */
interface LoginCallback {
  readonly code: string;
  /** The issuer named in the request, if any. */
  readonly issuer: string | undefined;
  answer(outcome: "done" | "failed"): void;
}

/** Waits on this machine for the browser to return from the issuer. Accepts one answer, once, with the right state. */
export class CallbackServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #state: string;
  readonly #visit = new Deferred<LoginCallback | CommandError>();
  #isUsed = false;

  private constructor(state: string) {
    this.#state = state;
    this.#server = createServer((request, response) => this.#handle(request, response));
    this.#server.maxConnections = maxConnections;
  }

  static async open({ port, state }: { port: number; state: string }): Promise<CallbackServer> {
    const callback = new CallbackServer(state);
    callback.#server.listen(port, "127.0.0.1");
    try {
      await once(callback.#server, "listening");
      return callback;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      const hint = "Another login of cody or Codex may be using it. Finish or cancel it, then try again";
      throw new CommandError(
        `Port ${port} is in use, but the login needs it for the browser's callback`,
        exitCodes.failed,
        [hint],
      );
    }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The issuer has registered `localhost`, not 127.0.0.1. */
  get redirectUri(): string {
    return `http://localhost:${this.port}${path}`;
  }

  /** Rejects with a `CommandError` if the login was refused or nobody came in time. */
  async visit(deadlineMs: number, signal: AbortSignal): Promise<LoginCallback> {
    const end = (message: string): void => this.#visit.resolve(failed(message));
    const late = setTimeout(end, deadlineMs, `No login within ${deadlineMs / 1_000} s`);
    const onAbort = (): void => end("The login was cancelled");
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const visit = await this.#visit.promise;
      if (visit instanceof CommandError) throw visit;
      return visit;
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", onAbort);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeIdleConnections();
    // A browser may keep connections open for a long time.
    setTimeout(() => this.#server.closeAllConnections(), 1_000).unref();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    // Any other host name means DNS rebinding by a foreign page.
    const hosts = [`localhost:${this.port}`, `127.0.0.1:${this.port}`];
    if (!hosts.includes(request.headers.host ?? "")) return page(response, 403, "Forbidden.");
    // A foreign page can make a browser request invalid addresses such as `//`.
    const [requestUrl, base] = [request.url ?? "/", "http://localhost"];
    if (!URL.canParse(requestUrl, base)) return page(response, 404, "Not found.");
    const url = new URL(requestUrl, base);
    if (request.method !== "GET" || url.pathname !== path) return page(response, 404, "Not found.");
    if (this.#isUsed) return page(response, 409, "This login was already used.");
    if (!isSame(url.searchParams.get("state") ?? "", this.#state)) {
      return page(response, 400, "This page does not belong to the login that cody is waiting for.");
    }
    this.#isUsed = true;
    return this.#onRedirect(url.searchParams, response);
  }

  #onRedirect(query: URLSearchParams, response: ServerResponse): void {
    const [code, error] = [query.get("code") ?? "", query.get("error") ?? ""];
    if (error !== "" || code === "") {
      const reason = errorName.test(error) ? error : "no authorization code received";
      page(response, 400, "The login failed. You can close this page.");
      return this.#visit.resolve(failed(`The login failed: ${reason}`));
    }
    this.#visit.resolve({
      code,
      issuer: query.get("iss") ?? undefined,
      answer: (outcome) =>
        outcome === "done"
          ? page(response, 200, "You are logged in. You can close this page and go back to cody.")
          : page(response, 400, "The login failed. See the terminal for details."),
    });
  }
}

function failed(message: string): CommandError {
  return new CommandError(message, exitCodes.failed);
}

/** Compares in constant time. */
function isSame(received: string, expected: string): boolean {
  const [a, b] = [received, expected].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

function page(response: ServerResponse, status: number, text: string): void {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  };
  response.writeHead(status, headers).end(`<!doctype html><title>cody</title><p>${text}</p>\n`);
}

/** Secrets known only to the process that started a login. */
interface LoginSecrets {
  /** Returned by the browser. An answer without it belongs to another request. */
  readonly state: string;
  /** Proves to the issuer that the process with the code also started the login (PKCE). */
  readonly verifier: string;
}

export function loginSecrets(): LoginSecrets {
  return { state: randomBytes(32).toString("base64url"), verifier: randomBytes(64).toString("base64url") };
}

/** The address where a person logs in and grants access to cody. */
export function authorizeUrl(facts: LoginFacts, { state, verifier }: LoginSecrets, redirectUri: string): string {
  const url = new URL(`${facts.issuer.replace(/\/$/, "")}/oauth/authorize`);
  const query = {
    response_type: "code",
    client_id: facts.clientId,
    redirect_uri: redirectUri,
    scope: "openid profile email offline_access",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    id_token_add_organizations: "true",
    codex_cli_simplified_flow: "true",
    state,
    originator: "cody",
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
