import type { OAuthTokens } from "@modelcontextprotocol/client";
import { McpLogin } from "../../../messages/tokens.js";

/** Converts an issuer's tokens into the stored form. */
export function toMcpLogin(tokens: OAuthTokens, issuer: McpLogin["issuer"], nowMs: number): McpLogin {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, token_type: type } = tokens;
  if (type.toLowerCase() !== "bearer") throw new Error("its issuer returned an unknown type of token");
  const expiresAt = seconds === undefined ? undefined : nowMs + seconds * 1_000;
  const login = McpLogin.safeParse({ issuer, accessToken, refreshToken, expiresAt });
  if (login.success) return login.data;
  throw new Error("its issuer returned no usable token");
}
