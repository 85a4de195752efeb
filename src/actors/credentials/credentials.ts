import { type LoginName, loginFacts } from "../../config/providers/logins.js";
import type { Config } from "../../messages/config.js";
import type { Failure } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";
import type { TokenSet } from "../../messages/tokens.js";
import type { LoginToken } from "../../providers/credential.js";
import type { Actor } from "../runtime/actor.js";
import { type LoginTokensParts, LoginTokens } from "./login-keeper.js";

export interface CredentialsOptions extends Omit<LoginTokensParts, "facts" | "warn"> {
  readonly logins: Config["logins"];
}

export type CredentialsOp =
  | { readonly type: "token"; readonly login: LoginName }
  /** Asks for a token that differs from the one a server has just refused. */
  | { readonly type: "renew"; readonly login: LoginName; readonly refused: string }
  | { readonly type: "kept_key"; readonly provider: string };

export interface CredentialsAnswers {
  readonly token: TokenReply;
  readonly renew: TokenReply;
  readonly kept_key: string | undefined;
}

export type TokenReply =
  { readonly ok: true; readonly token: LoginToken } | { readonly ok: false; readonly failure: Failure };

export type CredentialsMsg = { readonly type: "warning"; readonly message: string };

/** Caches the tokens of logins and the keys from the keyring, for all conversations of a process. */
export const credentials: Actor<CredentialsOp, CredentialsAnswers, CredentialsOptions, CredentialsMsg> = {
  name: "credentials",
  start: ({ logins, ...parts }, { publish }) => {
    const keepers = new Map<LoginName, LoginTokens>();
    const keys = new Map<string, string>();
    const warn = (message: string): void => publish({ type: "warning", message });

    function keeperOf(name: LoginName): LoginTokens {
      const known = keepers.get(name) ?? new LoginTokens({ ...parts, facts: loginFacts(name, logins), warn });
      keepers.set(name, known);
      return known;
    }

    return {
      token: ({ login }) => replyOf(login, keeperOf(login).tokens()),
      renew: ({ login, refused }) => replyOf(login, keeperOf(login).renewed(refused)),
      kept_key: async ({ provider }) => {
        const key = keys.get(provider) ?? (await parts.places.keyring.key(provider));
        // A missing key is not cached: a locked keyring may be unlocked next time.
        if (key === undefined) return undefined;
        parts.learn(key);
        keys.set(provider, key);
        return key;
      },
    };
  },
};

async function replyOf(login: LoginName, tokens: Promise<TokenSet>): Promise<TokenReply> {
  try {
    const { accessToken, accountId } = await tokens;
    return { ok: true, token: { token: accessToken, headers: headersOf(login, accountId) } };
  } catch (error) {
    if (error instanceof FailureError) return { ok: false, failure: error.failure };
    throw error;
  }
}

function headersOf(login: LoginName, accountId: string | undefined): Record<string, string> {
  if (login === "claude") return { "anthropic-beta": "oauth-2025-04-20" };
  return { originator: "cody", ...(accountId === undefined ? {} : { "chatgpt-account-id": accountId }) };
}
