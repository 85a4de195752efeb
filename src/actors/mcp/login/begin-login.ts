import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { McpLogin } from "../../../messages/tokens.js";
import { version } from "../../../version.js";
import { addressProblem, authFetch, toMcpLogin } from "./auth-fetch.js";

interface LoginOptions {
  readonly url: string;
  /** The address the browser returns to. */
  readonly redirectUri: string;
  /** The state parameter that the browser must return. */
  readonly state: string;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
}

/** A login that waits for the user's consent. */
interface BegunLogin {
  /** The page where the user grants access to cody. */
  readonly authorizationUrl: string;
  finish(answer: { readonly code: string; readonly issuer: string | undefined }): Promise<McpLogin>;
}

/** Finds the issuer of a server and registers cody as a client. Rejects with an `Error` written for the user. */
export async function beginLogin({ url, redirectUri, state, fetch, now }: LoginOptions): Promise<BegunLogin> {
  const sdk = await import("@modelcontextprotocol/client");
  const server = new URL(url);
  const fetchFn = authFetch(fetch, server);
  const flow = new Flow(redirectUri, state);
  const challenge = sdk.extractWWWAuthenticateParams(await sendUnauthenticated(fetchFn, server));
  await sdk.auth(flow, { serverUrl: server, fetchFn, ...challenge });
  const { client, discovery, authorizationUrl, verifier, resource } = flow;
  if (client === undefined || discovery === undefined || authorizationUrl === undefined) {
    throw new Error("its issuer publishes no login URL");
  }
  const problem = addressProblem(authorizationUrl, server);
  if (problem !== undefined) throw new Error(problem);
  const { authorizationServerUrl: issuer, authorizationServerMetadata: metadata } = discovery;
  return {
    authorizationUrl: authorizationUrl.href,
    finish: async ({ code, issuer: iss }) => {
      const tokens = await sdk.exchangeAuthorization(issuer, {
        ...(metadata === undefined ? {} : { metadata }),
        ...(resource === undefined ? {} : { resource }),
        ...(iss === undefined ? {} : { iss }),
        clientInformation: client,
        authorizationCode: code,
        codeVerifier: verifier,
        redirectUri,
        fetchFn,
      });
      return toMcpLogin(tokens, McpLogin.shape.issuer.parse({ url: issuer, client, metadata, resource }), now());
    },
  };
}

/** Sends an unauthenticated request: the response names the issuer and the scope. */
async function sendUnauthenticated(fetchFn: typeof fetch, server: URL): Promise<Response> {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "cody", version } };
  const response = await fetchFn(server, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await response.body?.cancel();
  return response;
}

/** Collects the data that the library discovers on the way to the authorization page. */
class Flow implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly #state: string;
  client: StoredOAuthClientInformation | undefined;
  discovery: OAuthDiscoveryState | undefined;
  authorizationUrl: URL | undefined;
  resource: string | undefined;
  verifier = "";

  constructor(redirectUri: string, state: string) {
    this.redirectUrl = redirectUri;
    this.#state = state;
  }

  get clientMetadata() {
    return {
      client_name: "cody",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  state(): string {
    return this.#state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.client = client;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovery;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.discovery = discovery;
  }

  saveResourceUrl(resource: string): void {
    this.resource = resource;
  }

  /** Existing tokens are ignored, so that a new login always starts. */
  tokens(): undefined {
    return undefined;
  }

  saveTokens(): void {
    throw new Error("no token was requested");
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }
}
