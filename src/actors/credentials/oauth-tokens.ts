import { createHash } from "node:crypto";
import type { LoginFacts } from "../../config/providers/logins.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure } from "../../messages/failure.js";
import { TokenAnswer, TokenClaims, type TokenSet } from "../../messages/tokens.js";
import { jsonOrUndefined } from "../../base/parse.js";
import { AnswerError, codeOfStatus, isRetryable } from "../../providers/failures/answer-error.js";
import { wireFailure } from "../../providers/failures/wire-failure.js";
import { readText } from "../../providers/transport/node-transport.js";
import type { Transport } from "../../providers/transport/transport.js";

/** `refused` is permanent: asking again would not help and might look like an attack. */
type TokenOutcome =
  | { readonly status: "answered"; readonly answer: TokenAnswer }
  | { readonly status: "refused"; readonly reason: string }
  | { readonly status: "failed"; readonly failure: Failure };

/** The known form of error names. Other text is not repeated, because it might contain the token. */
const errorName = /^[a-z_]{1,60}$/;
const permanentErrors =
  /^(?:invalid_grant|refresh_token_(?:expired|reused|invalidated)|token_expired|app_session_terminated)$/;

const maxAnswerBytes = 1024 * 1024;

interface TokenEndpoint {
  readonly transport: Transport;
  readonly deadlineMs: number;
}

/** Requests new tokens with a refresh token. Never throws, and never repeats its secrets in an outcome. */
export async function refreshTokens(
  facts: LoginFacts,
  refreshToken: string,
  endpoint: TokenEndpoint,
): Promise<TokenOutcome> {
  const body = { client_id: facts.clientId, grant_type: "refresh_token", refresh_token: refreshToken };
  return await post(facts, { type: "application/json", body: JSON.stringify(body), secret: refreshToken }, endpoint);
}

/** Requests the first tokens with the authorization code from the browser. */
export async function exchangeCode(
  facts: LoginFacts,
  grant: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
  endpoint: TokenEndpoint,
): Promise<TokenOutcome> {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: grant.code,
    redirect_uri: grant.redirectUri,
    client_id: facts.clientId,
    code_verifier: grant.verifier,
  });
  const tokenRequest = { type: "application/x-www-form-urlencoded", body: body.toString(), secret: grant.code };
  return await post(facts, tokenRequest, endpoint);
}

interface TokenRequest {
  readonly type: string;
  readonly body: string;
  readonly secret: string;
}

async function post(
  { tokenUrl, title }: LoginFacts,
  tokenRequest: TokenRequest,
  { transport, deadlineMs }: TokenEndpoint,
): Promise<TokenOutcome> {
  const headers = { "content-type": tokenRequest.type, accept: "application/json" };
  const posted = transport.post({ url: new URL(tokenUrl), headers }, () => [Buffer.from(tokenRequest.body)]);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    posted.cancel(new Error("no answer came in time"));
  }, deadlineMs);
  try {
    const { body } = await posted.answer;
    const answer = TokenAnswer.safeParse(jsonOrUndefined(await readText(body, maxAnswerBytes))).data;
    if (answer !== undefined) return { status: "answered", answer };
    return failed(`${title}: the server returned no tokens`);
  } catch (error) {
    if (isLate) return failed(`${title}: the server did not answer in time`, "timeout");
    if (error instanceof AnswerError) {
      return outcomeOfError(error.status, errorNameIn(error.body, tokenRequest.secret), title);
    }
    return { status: "failed", failure: wireFailure(error, { provider: title, apiKey: tokenRequest.secret }) };
  } finally {
    clearTimeout(timer);
  }
}

function outcomeOfError(status: number, name: string | undefined, title: string): TokenOutcome {
  if (status === 401 || (status < 500 && name !== undefined && permanentErrors.test(name))) {
    return { status: "refused", reason: name ?? String(status) };
  }
  const code = codeOfStatus(status);
  const message = `${title}: the server answered ${status}${name === undefined ? "" : `: ${name}`}`;
  return { status: "failed", failure: { code, message, retryable: isRetryable(code) } };
}

/** Accepts `{error: "name"}` and `{error: {code: "name"}}`. */
function errorNameIn(value: unknown, secret: string): string | undefined {
  const error: unknown = typeof value === "object" && value !== null && "error" in value ? value.error : undefined;
  const name: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : error;
  return typeof name === "string" && errorName.test(name) && !secret.includes(name) ? name : undefined;
}

function failed(message: string, code: "server" | "timeout" = "server"): TokenOutcome {
  return { status: "failed", failure: { code, message, retryable: true } };
}

export function loginEndedError({ title, remedy }: LoginFacts, reason: string): FailureError {
  const message = `the ${title} is no longer valid (${reason}). ${remedy}`;
  return new FailureError({ code: "auth", message, retryable: false });
}

export function noLoginError({ title, remedy }: LoginFacts): FailureError {
  return new FailureError({ code: "auth", message: `no ${title} found. ${remedy}`, retryable: false });
}

/** Returns the claims of a JWT; empty for any other token. */
function claimsOf(token: string | undefined): TokenClaims {
  const payload = token?.split(".")[1];
  if (payload === undefined) return {};
  try {
    return TokenClaims.safeParse(JSON.parse(Buffer.from(payload, "base64url").toString())).data ?? {};
  } catch {
    return {};
  }
}

export function expiryOf(accessToken: string): number | undefined {
  const { exp } = claimsOf(accessToken);
  return exp === undefined ? undefined : exp * 1_000;
}

/** Returns the account data in an id token. */
export function accountOf(idToken: string | undefined): Pick<TokenSet, "accountId" | "email" | "plan"> {
  const claims = claimsOf(idToken);
  const { chatgpt_account_id: accountId, chatgpt_plan_type: plan } = claims["https://api.openai.com/auth"] ?? {};
  const email = claims.email ?? claims["https://api.openai.com/profile"]?.email;
  return {
    ...(accountId === undefined ? {} : { accountId }),
    ...(email === undefined ? {} : { email: email.slice(0, 320) }),
    ...(plan === undefined ? {} : { plan: plan.slice(0, 100) }),
  };
}

/** Merges a server's answer into the previous tokens. Returns undefined when it contains no token. */
export function mergeTokens(before: TokenSet | undefined, answer: TokenAnswer, nowMs: number): TokenSet | undefined {
  const accessToken = answer.access_token ?? before?.accessToken;
  if (accessToken === undefined || (answer.access_token === undefined && answer.refresh_token === undefined)) {
    return undefined;
  }
  const { expiresAt: _, ...kept } = before ?? {};
  const refreshToken = answer.refresh_token ?? before?.refreshToken;
  const expiry = answer.expires_in === undefined ? undefined : nowMs + answer.expires_in * 1_000;
  const expiresAt = expiryOf(accessToken) ?? expiry;
  return {
    ...kept,
    ...accountOf(answer.id_token),
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(before?.refreshToken === undefined ? {} : { parent: fingerprint(before.refreshToken) }),
  };
}

/** A hash that tells refresh tokens apart without revealing them. */
export function fingerprint(refreshToken: string): string {
  return createHash("sha256").update(refreshToken).digest("base64url");
}
