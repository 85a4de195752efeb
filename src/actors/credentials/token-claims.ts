import { createHash } from "node:crypto";
import { type TokenAnswer, TokenClaims, type TokenSet } from "../../messages/tokens.js";

/** Returns the claims of a JWT; empty for any other token. */
export function claimsOf(token: string | undefined): TokenClaims {
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
  const told = answer.expires_in === undefined ? undefined : nowMs + answer.expires_in * 1_000;
  const expiresAt = expiryOf(accessToken) ?? told;
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
