import { BlockList, isIP } from "node:net";
import type { OAuthTokens } from "@modelcontextprotocol/client";
import { McpLogin } from "../../../messages/tokens.js";
import { boundedFetch } from "../transport/bounded-fetch.js";

/** Deadline of one request to an issuer. */
const deadlineMs = 20_000;

const privateAddresses = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  privateAddresses.addSubnet(net, prefix);
}
for (const [net, prefix] of [
  ["::", 127],
  ["::ffff:0:0", 96],
  ["fc00::", 7],
  ["fe80::", 10],
] as const) {
  privateAddresses.addSubnet(net, prefix, "ipv6");
}

/**
 * Restricts the requests of a login. A server names its issuer and must not abuse that to redirect us: not to private
 * addresses, unless the server has one itself, not to plain http, and not by a redirect.
 */
export function authFetch(fetch: typeof globalThis.fetch, server: URL): typeof globalThis.fetch {
  const ask = boundedFetch(fetch, () => undefined);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const problem = addressProblem(url, server);
    if (problem !== undefined) throw new Error(problem);
    const signal = AbortSignal.timeout(deadlineMs);
    const response = await ask(url, { ...init, redirect: "manual", signal });
    if (response.status < 300 || response.status > 399) return response;
    throw new Error(`${url.origin} answered with a redirect, which is not followed`);
  };
}

/** Returns the reason why an address named by a server is not used for its login. */
export function addressProblem(url: URL, server: URL): string | undefined {
  const isNear = isLoopback(server.hostname) && isLoopback(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isNear)) {
    return `its login is at ${url.origin}, which is not https`;
  }
  if (isPrivate(url.hostname) && !isPrivate(server.hostname)) {
    return `its login is at ${url.origin}, which is not a public internet address`;
  }
  return undefined;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function isPrivate(host: string): boolean {
  const address = host.replaceAll(/^\[|\]$/g, "");
  if (isIP(address) === 0) return /(?:^|\.)(?:localhost|local|internal)\.?$/.test(host);
  return privateAddresses.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Converts an issuer's tokens into the stored form. */
export function toMcpLogin(tokens: OAuthTokens, issuer: McpLogin["issuer"], nowMs: number): McpLogin {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, token_type: type } = tokens;
  if (type.toLowerCase() !== "bearer") throw new Error("its issuer returned an unknown type of token");
  const expiresAt = seconds === undefined ? undefined : nowMs + seconds * 1_000;
  const login = McpLogin.safeParse({ issuer, accessToken, refreshToken, expiresAt });
  if (login.success) return login.data;
  throw new Error("its issuer returned no usable token");
}
