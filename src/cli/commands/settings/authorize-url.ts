import { createHash, randomBytes } from "node:crypto";
import type { LoginFacts } from "../../../config/providers/logins.js";

/** Secrets known only to the process that started a login. */
export interface LoginSecrets {
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
