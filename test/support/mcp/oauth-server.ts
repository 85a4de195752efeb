import { createHash, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { McpLogin } from "../../../src/messages/tokens.js";
import { type Loopback, type Received, serve } from "../../providers/loopback.js";

interface Grant {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
  readonly resource: string;
}

/**
 * An MCP server that requires a token, and the issuer of its tokens. A refresh token can be used once: using it again
 * ends the login.
 */
export class OAuthServer {
  refreshes = 0;
  reuses = 0;
  isRevoked = false;
  expiresIn = 3_600;
  /** The issuer in the server's metadata; its own address by default. */
  issuer: string | undefined;
  /** Runs before a token is renewed; if it rejects, the request is not answered. */
  onRefresh: (() => Promise<void>) | undefined;
  readonly given = new Set<string>();
  readonly #codes = new Map<string, Grant>();
  readonly #used = new Set<string>();
  #server: Loopback | undefined;
  #access = "";
  #refresh = "";

  static async open(): Promise<OAuthServer> {
    const server = new OAuthServer();
    server.#server = await serve((response, request) => server.#answer(response, request));
    return server;
  }

  get origin(): string {
    return this.#server?.url ?? "";
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  get requests(): readonly Received[] {
    return this.#server?.requests ?? [];
  }

  /** Revokes the access token before it expires. */
  endAccess(): void {
    this.#access = "";
  }

  /** Approves a login at this address, as a user would; returns the query of the redirect. */
  agree(authorizationUrl: URL): Record<string, string> {
    const query = Object.fromEntries(authorizationUrl.searchParams);
    if (query["code_challenge_method"] !== "S256" || query["response_type"] !== "code") throw new Error("no PKCE");
    const code = `code-${randomUUID()}`;
    this.given.add(code);
    this.#codes.set(code, {
      challenge: query["code_challenge"] ?? "",
      redirectUri: query["redirect_uri"] ?? "",
      clientId: query["client_id"] ?? "",
      resource: query["resource"] ?? "",
    });
    return { code, state: query["state"] ?? "", iss: this.origin };
  }

  /** A login as cody stores it. */
  login(): McpLogin {
    const { access_token: accessToken, refresh_token: refreshToken } = this.#issue();
    const metadata = this.#metadata();
    const issuer = { url: this.origin, client: { client_id: "client-1" }, metadata, resource: this.url };
    return { accessToken, refreshToken, expiresAt: Date.now() + this.expiresIn * 1_000, issuer };
  }

  #issue() {
    this.#access = `access-${randomUUID()}`;
    this.#refresh = `refresh-${randomUUID()}`;
    this.given.add(this.#access).add(this.#refresh);
    return {
      access_token: this.#access,
      refresh_token: this.#refresh,
      token_type: "Bearer",
      expires_in: this.expiresIn,
    };
  }

  #metadata() {
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      registration_endpoint: `${this.origin}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  async #answer(response: ServerResponse, request: Received): Promise<void> {
    switch (request.path) {
      case "/mcp":
        return this.#speak(response, request);
      case "/.well-known/oauth-protected-resource/mcp":
        return json(response, 200, { resource: this.url, authorization_servers: [this.issuer ?? this.origin] });
      case "/.well-known/oauth-authorization-server":
        return json(response, 200, this.#metadata());
      case "/register":
        return json(response, 201, { ...(JSON.parse(request.body) as object), client_id: `client-${randomUUID()}` });
      case "/token":
        return await this.#token(response, Object.fromEntries(new URLSearchParams(request.body)));
      default:
        return json(response, 404, {});
    }
  }

  async #token(response: ServerResponse, sent: Readonly<Record<string, string>>): Promise<void> {
    const refused = (error: string): void =>
      json(response, 400, { error, error_description: `no: ${JSON.stringify(sent)}` });
    if (sent["grant_type"] === "authorization_code") {
      const grant = this.#codes.get(sent["code"] ?? "");
      this.#codes.delete(sent["code"] ?? "");
      const isGood =
        grant !== undefined &&
        grant.challenge === challengeOf(sent["code_verifier"] ?? "") &&
        grant.redirectUri === sent["redirect_uri"] &&
        grant.clientId === sent["client_id"] &&
        grant.resource === this.url &&
        sent["resource"] === this.url;
      return isGood ? json(response, 200, this.#issue()) : refused("invalid_grant");
    }
    try {
      await this.onRefresh?.();
    } catch {
      return void response.destroy();
    }
    const { refresh_token: given = "" } = sent;
    if (this.#used.has(given)) {
      this.reuses += 1;
      this.isRevoked = true;
    }
    if (this.isRevoked || given !== this.#refresh) return refused("invalid_grant");
    this.#used.add(given);
    this.refreshes += 1;
    return json(response, 200, this.#issue());
  }

  #speak(response: ServerResponse, { headers, body }: Received): void {
    const { authorization } = headers;
    if (this.#access === "" || authorization !== `Bearer ${this.#access}`) {
      const where = `${this.origin}/.well-known/oauth-protected-resource/mcp`;
      response.setHeader("www-authenticate", `Bearer resource_metadata="${where}"`);
      return json(response, 401, { error: `refused: ${authorization}` });
    }
    const { id, method, params } = JSON.parse(body === "" ? "{}" : body) as Record<string, unknown>;
    if (id === undefined) return void response.writeHead(202).end();
    const { protocolVersion } = Object(params) as Record<string, unknown>;
    const results: Record<string, unknown> = {
      initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "far", version: "1" } },
      "tools/list": { tools: [{ name: "whoami", inputSchema: { type: "object" } }] },
      // A server may repeat the token it received.
      "tools/call": { content: [{ type: "text", text: `you are ${authorization}` }] },
    };
    const result = results[String(method)];
    const error = { code: -32_601, message: `no ${String(method)}` };
    return json(response, 200, { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) });
  }
}

function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
