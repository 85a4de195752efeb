import type { AuthMethod, Config, WireApi } from "../../messages/config.js";

export type LoginName = "chatgpt" | "claude";

/** What is known about a login. */
export interface LoginFacts {
  readonly name: LoginName;
  readonly method: AuthMethod;
  /** How a person calls it. */
  readonly title: string;
  /** Whose models it is for, where they are reached with it, and how they are spoken to. */
  readonly provider: string;
  readonly baseUrl: string | undefined;
  readonly api: WireApi;
  /** Who answers when nobody says which model is to. */
  readonly model: string;
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** What helps when there is no login, or it has ended. */
  readonly remedy: string;
}

/** Public facts: the addresses and ids the vendors' own programs log in with. */
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

/** With what the configuration says otherwise. */
export function loginFacts(name: LoginName, logins: Config["logins"] = {}): LoginFacts {
  const facts = name === "chatgpt" ? chatgpt : claude;
  const { issuer = facts.issuer, tokenUrl, clientId = facts.clientId } = logins[name] ?? {};
  const own = issuer === facts.issuer ? facts.tokenUrl : `${issuer.replace(/\/$/, "")}/oauth/token`;
  return { ...facts, issuer, clientId, tokenUrl: tokenUrl ?? own };
}

/** The login a method stands for, where it is for this provider. No login is ever used that was not chosen. */
export function chosenLogin(auth: AuthMethod | undefined, provider: string): LoginFacts | undefined {
  return [chatgpt, claude].find((facts) => facts.method === auth && facts.provider === provider);
}
