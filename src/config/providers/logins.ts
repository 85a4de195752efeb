import type { AuthMethod, Config, WireApi } from "../../messages/settings/config.js";
import type { LoginName } from "../../messages/tokens.js";

export type { LoginName };

export interface LoginFacts {
  readonly name: LoginName;
  readonly method: AuthMethod;
  /** The name shown to people. */
  readonly title: string;
  /** The provider whose models the login gives access to, the address to reach it, and the wire API. */
  readonly provider: string;
  readonly baseUrl: string | undefined;
  readonly api: WireApi;
  /** The default model. */
  readonly model: string;
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Advice for a missing or expired login. */
  readonly remedy: string;
}

/** Public facts: the addresses and client ids that the vendors' own programs log in with. */
const chatgpt: LoginFacts = {
  name: "chatgpt",
  method: "chatgpt-oauth",
  title: "ChatGPT login",
  provider: "openai",
  baseUrl: "https://chatgpt.com/backend-api/codex",
  api: "responses",
  model: "gpt-5",
  issuer: "https://auth.openai.com",
  tokenUrl: "https://auth.openai.com/oauth/token",
  clientId: "app_EMoamEEZ73f0CkXaXp7hrann",
  remedy: "Run: cody login",
};
const claude: LoginFacts = {
  name: "claude",
  method: "claude-oauth",
  title: "Claude login",
  provider: "anthropic",
  baseUrl: undefined,
  api: "messages",
  model: "claude-sonnet-5-5",
  issuer: "https://claude.ai",
  tokenUrl: "https://console.anthropic.com/v1/oauth/token",
  clientId: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
  remedy: "Log in with Claude Code, or run: cody set-auth anthropic-api-key",
};

export const loginNames: readonly LoginName[] = ["chatgpt", "claude"];

/** Returns a login's facts, with the overrides from the configuration. */
export function loginFacts(name: LoginName, logins: Config["logins"] = {}): LoginFacts {
  const facts = name === "chatgpt" ? chatgpt : claude;
  const { issuer = facts.issuer, tokenUrl, clientId = facts.clientId } = logins[name] ?? {};
  const own = issuer === facts.issuer ? facts.tokenUrl : `${issuer.replace(/\/$/, "")}/oauth/token`;
  return { ...facts, issuer, clientId, tokenUrl: tokenUrl ?? own };
}

/** The login for a method, if it belongs to this provider. cody never uses a login that the user did not choose. */
export function chosenLogin(auth: AuthMethod | undefined, provider: string): LoginFacts | undefined {
  return [chatgpt, claude].find((facts) => facts.method === auth && facts.provider === provider);
}
