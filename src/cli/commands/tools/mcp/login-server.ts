import { errorMessage } from "../../../../base/error-message.js";
import { beginLogin } from "../../../../actors/mcp/login/begin-login.js";
import { hasAuthorizationHeader } from "../../../../actors/mcp/server-target.js";
import { TokenStore } from "../../../../actors/credentials/token-store.js";
import type { McpLogin } from "../../../../messages/tokens.js";
import { visible } from "../../../../base/text/visible.js";
import { createFetch } from "../../../../providers/transport/http-fetch.js";
import { CommandError, exitCodes } from "../../../command-error.js";
import { type ContextOf, printResult, currentTime } from "../../../context.js";
import { watchSignals } from "../../../terminal/interruption.js";
import { loginSecrets, CallbackServer } from "../../settings/browser-login.js";
import { numberFlag } from "../../../format.js";
import { loadServers } from "./known-servers.js";

const loginTimeoutMs = 10 * 60_000;

/** Logs in to a remote server. The tokens belong to its address, not to its name. */
export async function loginServer(context: ContextOf<"mcp">, name: string): Promise<number> {
  const url = await urlOf(context, name);
  using interruption = watchSignals(context.terminal);
  let login: McpLogin;
  try {
    login = await loginTo(context, name, url, interruption.signal);
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  }
  const store = new TokenStore(context.home);
  await store.locked(() => store.writeMcp(url, login));
  await printResult(context, { text: `✓ Logged in to ${name}`, json: { name, loggedIn: true } });
  return 0;
}

export async function logoutServer(context: ContextOf<"mcp">, name: string): Promise<number> {
  const url = await urlOf(context, name);
  const store = new TokenStore(context.home);
  const wasThere = (await store.readMcp(url)) !== undefined;
  if (wasThere) await store.locked(() => store.writeMcp(url, undefined));
  await printResult(context, {
    text: wasThere ? `✓ Logged out of ${name}` : `✓ Not logged in to ${name}: nothing to delete`,
    json: { name, loggedIn: false, wasLoggedIn: wasThere },
  });
  return 0;
}

async function urlOf(context: ContextOf<"mcp">, name: string): Promise<string> {
  const { servers } = await loadServers(context);
  const server = servers.find((each) => each.name === name);
  if (server === undefined) throw refused(`MCP server '${name}' not found`, "See: cody mcp list");
  const { entry, status } = server;
  if (status === "not trusted") {
    throw refused(`${name} is a server of this project, which is not trusted`, "To trust it: cody trust");
  }
  if (!("url" in entry)) {
    throw refused(`${name} is a local command and does not use a login`, "To pass it credentials: cody mcp add --env");
  }
  if (hasAuthorizationHeader(entry)) {
    throw refused(`${name} uses the token in its configuration, not a login`, "See: cody mcp list --json");
  }
  return entry.url;
}

function refused(message: string, hint: string): CommandError {
  return new CommandError(message, exitCodes.failed, [hint]);
}

async function loginTo(context: ContextOf<"mcp">, name: string, url: string, signal: AbortSignal): Promise<McpLogin> {
  const { state } = loginSecrets();
  const port = numberFlag("--port", context.flags.port) ?? 0;
  await using callback = await CallbackServer.open({ port, state });
  const fetch = createFetch(context.terminal.env);
  const parts = { url, redirectUri: callback.redirectUri, state, fetch, now: () => currentTime(context) };
  const started = await beginLogin(parts).catch((error: unknown) => {
    throw failed(name, error);
  });
  const address = visible(started.authorizationUrl);
  await context.tell(`Open this URL in a browser on this machine and log in to ${name}:\n\n${address}\n`);
  const visit = await callback.visit(loginTimeoutMs, signal);
  context.hide([visit.code]);
  try {
    const login = await started.finish(visit);
    context.hide([login.accessToken, ...(login.refreshToken === undefined ? [] : [login.refreshToken])]);
    visit.answer("done");
    return login;
  } catch (error) {
    visit.answer("failed");
    throw failed(name, error);
  }
}

function failed(name: string, error: unknown): CommandError {
  return new CommandError(`The login to ${name} failed: ${visible(errorMessage(error))}`, exitCodes.failed);
}
