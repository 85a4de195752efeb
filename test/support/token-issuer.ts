import { createHash, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { begin, type Loopback, type Received, serve } from "../providers/loopback.js";

export interface IssuedTokens {
  readonly access: string;
  readonly refresh: string;
  readonly id: string;
}

/** Replaces the token endpoint's answer. */
export type TokenFault = (response: ServerResponse, sent: Readonly<Record<string, string>>) => void;

const hourMs = 3_600_000;
export const account = { email: "alice@example.com", accountId: "acct-1", plan: "plus" };

/**
 * Issues and renews tokens, and answers as a model over Responses and Messages when the token is valid. A refresh token
 * can be used once: using it again ends the login.
 */
export class TokenIssuer {
  /** The clock that decides when tokens expire. */
  nowMs = Date.UTC(2026, 10, 17);
  refreshes = 0;
  reuses = 0;
  isRevoked = false;
  /** Whether every token is refused. */
  isClosed = false;
  fault: TokenFault | undefined;
  /** The PKCE challenge of each authorization code. */
  readonly codes = new Map<string, string>();
  #server: Loopback | undefined;
  #access = "";
  #refresh = "";
  readonly #used = new Set<string>();
  #serial = 0;

  static async open(): Promise<TokenIssuer> {
    const issuer = new TokenIssuer();
    issuer.#server = await serve((response, request) => issuer.#answer(response, request));
    return issuer;
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  get requests(): readonly Received[] {
    return this.#server?.requests ?? [];
  }

  /** The authorization headers of the requests to the model. */
  get proofs(): (string | undefined)[] {
    return this.requests.filter(({ path }) => path !== "/oauth/token").map(({ headers }) => headers.authorization);
  }

  /** Issues new tokens and revokes the old ones. */
  issue(): IssuedTokens {
    this.#serial += 1;
    const exp = Math.floor((this.nowMs + hourMs) / 1_000);
    this.#access = jwt({ exp, n: this.#serial });
    this.#refresh = `rt-${this.#serial}-${randomUUID()}`;
    return { access: this.#access, refresh: this.#refresh, id: jwt(idClaims) };
  }

  /** Revokes the access token before it expires. */
  endAccess(): void {
    this.#access = "";
  }

  /** Writes the tokens to a file as Codex does. */
  async giveToCodex(codexHome: string, tokens = this.issue()): Promise<string> {
    await mkdir(codexHome, { recursive: true });
    const path = join(codexHome, "auth.json");
    await writeFile(path, codexAuth(tokens), { mode: 0o600 });
    return path;
  }

  async #answer(response: ServerResponse, request: Received): Promise<void> {
    if (request.path === "/oauth/token") return this.#token(response, sentIn(request));
    const proof = request.headers.authorization;
    if (this.isRevoked || this.isClosed || this.#access === "" || proof !== `Bearer ${this.#access}`) {
      const error = { message: `refused: ${proof}`, type: "authentication_error" };
      return json(response, 401, { type: "error", error });
    }
    begin(response, request.path.endsWith("/messages") ? saidOverMessages : saidOverResponses);
    response.end();
  }

  #token(response: ServerResponse, sent: Readonly<Record<string, string>>): void {
    if (this.fault !== undefined) return this.fault(response, sent);
    if (sent["grant_type"] === "authorization_code") return this.#exchange(response, sent);
    const { refresh_token: given = "" } = sent;
    if (this.#used.has(given)) {
      this.reuses += 1;
      this.isRevoked = true;
    }
    if (this.isRevoked || given !== this.#refresh) {
      return json(response, 401, { error: { code: "refresh_token_reused", message: `no: ${given}` } });
    }
    this.#used.add(given);
    this.refreshes += 1;
    return this.#give(response);
  }

  #exchange(response: ServerResponse, sent: Readonly<Record<string, string>>): void {
    const challenge = this.codes.get(sent["code"] ?? "");
    this.codes.delete(sent["code"] ?? "");
    if (challenge === undefined || challenge !== challengeOf(sent["code_verifier"] ?? "")) {
      return json(response, 400, { error: "invalid_grant" });
    }
    return this.#give(response);
  }

  #give(response: ServerResponse): void {
    const { access, refresh, id } = this.issue();
    json(response, 200, { access_token: access, refresh_token: refresh, id_token: id, token_type: "Bearer" });
  }
}

export function codexAuth({ access, refresh, id }: IssuedTokens): string {
  const tokens = { id_token: id, access_token: access, refresh_token: refresh, account_id: account.accountId };
  return JSON.stringify({
    auth_mode: "chatgpt",
    OPENAI_API_KEY: null,
    tokens,
    last_refresh: "2026-11-16T01:15:41.97Z",
  });
}

export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

const idClaims = {
  email: account.email,
  "https://api.openai.com/auth": { chatgpt_account_id: account.accountId, chatgpt_plan_type: account.plan },
};

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function jwt(claims: object): string {
  return `${part({ alg: "none" })}.${part(claims)}.c2lnbmF0dXJl`;
}

function sentIn({ headers, body }: Received): Record<string, string> {
  if (headers["content-type"] === "application/json") return JSON.parse(body) as Record<string, string>;
  return Object.fromEntries(new URLSearchParams(body));
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function events(...all: readonly ({ type: string } & Record<string, unknown>)[]): string {
  return all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

const item = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
};
const saidOverResponses = events(
  { type: "response.output_item.done", output_index: 0, item },
  { type: "response.completed", response: { id: "resp_1", status: "completed", output: [item] } },
);
const usage = { input_tokens: 1, output_tokens: 1 };
const saidOverMessages = events(
  { type: "message_start", message: { id: "msg_1", role: "assistant", content: [], model: "m", usage } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
  { type: "message_stop" },
);
