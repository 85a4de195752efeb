import { mergeTokens, exchangeCode } from "../../../actors/credentials/oauth-tokens.js";
import { TokenStore } from "../../../actors/credentials/token-store.js";
import { type LoginFacts, loginFacts } from "../../../config/providers/logins.js";
import type { TokenSet } from "../../../messages/tokens.js";
import { createTransport } from "../../../providers/transport/node-transport.js";
import { changeConfig } from "./change-config.js";
import { CommandError, exitCodes } from "../../command-error.js";
import { type ContextOf, printResult, currentTime } from "../../context.js";
import { watchSignals } from "../../terminal/interruption.js";
import { loadSettings } from "../../load-settings.js";
import { authorizeUrl, loginSecrets, CallbackServer } from "./browser-login.js";
import { numberFlag } from "../../format.js";

/** The port the issuer redirects browsers to. */
const defaultPort = 1_455;
const loginTimeoutMs = 10 * 60_000;
const exchangeMs = 30_000;

/** Logs in with ChatGPT. The tokens are cody's own, so no other program refreshes them. */
export async function loginCommand(context: ContextOf<"login">): Promise<number> {
  using interruption = watchSignals(context.terminal);
  const { values } = await loadSettings(context);
  const facts = loginFacts("chatgpt", values.logins);
  let tokens: TokenSet;
  try {
    tokens = await tokensOf(context, facts, interruption.signal);
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  }
  const store = new TokenStore(context.home);
  await store.locked(() => store.write("chatgpt", tokens));
  await changeConfig(context, { auth: facts.method });
  const { email, plan } = tokens;
  const account = email === undefined ? "" : ` as ${email}`;
  await printResult(context, {
    text: `✓ Logged in${account}`,
    json: { method: facts.method, account: email ?? null, plan: plan ?? null },
  });
  return 0;
}

async function tokensOf(context: ContextOf<"login">, facts: LoginFacts, signal: AbortSignal): Promise<TokenSet> {
  const secrets = loginSecrets();
  const port = numberFlag("--port", context.flags.port) ?? defaultPort;
  await using callback = await CallbackServer.open({ port, state: secrets.state });
  const { redirectUri } = callback;
  const url = authorizeUrl(facts, secrets, redirectUri);
  await context.tell(`Open this URL in a browser on this machine and log in:\n\n${url}\n`);
  await context.tell("Waiting for the login, for at most 10 minutes; Ctrl-C cancels");
  const visit = await callback.visit(loginTimeoutMs, signal);
  const transport = createTransport(context.terminal.env);
  try {
    const endpoint = { transport, deadlineMs: exchangeMs };
    const grant = { code: visit.code, verifier: secrets.verifier, redirectUri };
    const outcome = await exchangeCode(facts, grant, endpoint);
    const tokens =
      outcome.status === "answered" ? mergeTokens(undefined, outcome.answer, currentTime(context)) : undefined;
    visit.answer(tokens === undefined ? "failed" : "done");
    if (tokens !== undefined) return tokens;
    if (outcome.status === "failed") throw new CommandError(outcome.failure.message, exitCodes.failed);
    const reason = outcome.status === "refused" ? outcome.reason : "no token received";
    throw new CommandError(`The login failed: ${reason}`, exitCodes.failed);
  } finally {
    transport.close();
  }
}
