import type { Socket } from "node:net";
import type * as Undici from "undici";

const defaultConnectMs = 10_000;

interface Proxies {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

const variables: ReadonlySet<string> = new Set(["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]);

/** The proxy variables of an environment, for a recipient that must not see the rest of it. */
export function proxyVariables(env: Readonly<NodeJS.ProcessEnv>): Record<string, string> {
  const known = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && variables.has(entry[0].toUpperCase()),
  );
  return Object.fromEntries(known);
}

/**
 * A fetch that honours HTTPS_PROXY, HTTP_PROXY and NO_PROXY, which the built-in fetch of Node 20 does not. As in
 * undici, HTTP_PROXY also serves https addresses when HTTPS_PROXY is not set.
 */
export function createFetch(env: Readonly<NodeJS.ProcessEnv>, connectTimeoutMs = defaultConnectMs): typeof fetch {
  const proxied = proxiedClient(env, connectTimeoutMs);
  if (proxied === undefined) return fetch;
  return async (input, init) => {
    const { undici, dispatcher } = await proxied();
    const call = undici.fetch as unknown as (input: unknown, init: object) => Promise<Response>;
    return await call(input, { ...init, dispatcher });
  };
}

interface ProxiedClient {
  readonly undici: typeof Undici;
  /** Sends each request through the proxy of its address, or directly. */
  readonly dispatcher: Undici.Dispatcher;
}

/**
 * A client that uses the proxies of an environment; undefined if there are none. It loads undici on first use, because
 * few users need a proxy and loading takes time.
 */
export function proxiedClient(
  env: Readonly<NodeJS.ProcessEnv>,
  connectTimeoutMs = defaultConnectMs,
): (() => Promise<ProxiedClient>) | undefined {
  const proxies = proxiesOf(env);
  if (proxies.httpProxy === "" && proxies.httpsProxy === "") return undefined;
  let client: Promise<ProxiedClient> | undefined;
  return () => (client ??= loadClient(proxies, connectTimeoutMs));
}

/** Empty means none; for undefined, the agent would read the environment of the process. */
function proxiesOf(env: Readonly<NodeJS.ProcessEnv>): Proxies {
  const value = (name: string): string => env[name.toLowerCase()] || env[name] || "";
  return { httpProxy: value("HTTP_PROXY"), httpsProxy: value("HTTPS_PROXY"), noProxy: value("NO_PROXY") };
}

async function loadClient(proxies: Proxies, connectTimeoutMs: number): Promise<ProxiedClient> {
  const undici = await import("undici");
  const dispatcher = new undici.EnvHttpProxyAgent({
    ...proxies,
    clientFactory: (origin, options) => {
      const { connect } = options as { connect: ReturnType<typeof undici.buildConnector> };
      return new undici.Pool(origin, { ...options, connect: proxyConnector(connect, connectTimeoutMs) });
    },
  });
  return { undici, dispatcher };
}

type Connector = ReturnType<typeof Undici.buildConnector>;

/**
 * Connects to a proxy and detects one that accepts a connection but sends nothing. Otherwise the client would reconnect
 * thousands of times a second, or wait forever.
 */
function proxyConnector(connect: Connector, timeoutMs: number): Connector {
  let failure: Error | undefined;
  return (options, callback) => {
    if (failure !== undefined) {
      // Fail the pending request; later ones try again.
      callback(failure, null);
      failure = undefined;
      return;
    }
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null && socket !== null) watch(socket, timeoutMs, (silence) => (failure = silence));
      callback(...result);
    });
  };
}

function watch(socket: Socket, timeoutMs: number, onSilent: (error: Error) => void): void {
  let code = "ECONNRESET";
  const timer = setTimeout(() => {
    if (socket.bytesRead > 0) return;
    code = "ETIMEDOUT";
    socket.destroy();
  }, timeoutMs);
  socket.once("close", () => {
    clearTimeout(timer);
    if (socket.bytesRead === 0) onSilent(Object.assign(new Error("the proxy did not answer"), { code }));
  });
}
