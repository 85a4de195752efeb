import { createHash, randomBytes } from "node:crypto";
import type { LoginFacts } from "../../../config/providers/logins.js";

/** What only the process knows that began a login. */
export interface LoginSecrets {
  /** Comes back with the browser: an answer without it is to something else. */
  readonly state: string;
  /** Proves to the issuer that who has the code also asked for it. */
  readonly verifier: string;
}

export function loginSecrets(): LoginSecrets {
  return { state: randomBytes(32).toString("base64url"), verifier: randomBytes(64).toString("base64url") };
}

/** Where a person logs in and says that cody may. */
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
