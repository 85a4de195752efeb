import type { Client, jsonSchemaValidator, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as z from "zod";
import { errorMessage } from "../../../base/error-message.js";
import type { ElicitationAnswer, ElicitationRequest } from "../../../messages/actors/mcp.js";
import { createFetch } from "../../../providers/transport/http-fetch.js";
import { version } from "../../../version.js";
import { within } from "../../../base/time/waiting.js";
import { boundedFetch } from "./bounded-fetch.js";
import type { ServerLogin } from "../login/server-login.js";
import type { ServerTarget } from "../server-target.js";
import { StdioTransport } from "./stdio-transport.js";

/** Receives the events of a connection other than answers. */
interface ConnectionListener {
  onToolsChanged(): void;
  onStderr(bytes: Buffer): void;
  onElicitation(request: ElicitationRequest): Promise<ElicitationAnswer>;
  /** Called once, when the connection ends without having been closed. */
  onLost(reason: string): void;
}

/** A connection whose handshake is complete. */
export interface Connection {
  readonly offers: { readonly tools: boolean; readonly resources: boolean; readonly prompts: boolean };
  /** Rejects with an `Error` written for the user; the server is notified of an abort. */
  request(method: string, params: Readonly<Record<string, unknown>>, options: RequestBounds): Promise<unknown>;
  close(): Promise<void>;
}

interface RequestBounds {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Time limit for ending the session with a network server. */
const terminateMs = 1_000;

/** Each caller validates its own answer: one schema for all would reject a whole answer for one invalid part. */
const Answer = z.looseObject({});
const ElicitationParams = z.looseObject({ message: z.string(), requestedSchema: z.unknown().optional() });

/**
 * Connects and performs the handshake. The library is loaded here, so that users without servers do not wait for it.
 */
export async function openConnection(
  order: ServerTarget,
  env: Readonly<Record<string, string | undefined>>,
  listener: ConnectionListener,
  bounds: RequestBounds,
  login?: ServerLogin,
): Promise<Connection> {
  const sdk = await import("@modelcontextprotocol/client");
  const client = new sdk.Client(
    { name: "cody", version },
    // A server's schema is never compiled, because a regular expression in it could run for ever.
    { capabilities: { elicitation: { form: {} } }, jsonSchemaValidator: acceptAll },
  );
  let isOver = false;
  const transport =
    order.type === "command"
      ? new StdioTransport(order, (bytes) => listener.onStderr(bytes))
      : new sdk.StreamableHTTPClientTransport(new URL(order.url), {
          fetch: boundedFetch(createFetch(env), (reason) => onLost(reason)),
          requestInit: { headers: { ...order.headers } },
          ...(login === undefined ? {} : { authProvider: login }),
          redirectPolicy: "same-origin",
        });

  function onLost(reason: string): void {
    if (isOver) return;
    isOver = true;
    listener.onLost(reason);
    void close();
  }

  async function close(): Promise<void> {
    isOver = true;
    if (!(transport instanceof StdioTransport)) await terminateSession(transport);
    await client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
    await login?.settled();
  }

  Object.assign(client, {
    onclose: () => onLost((transport instanceof StdioTransport ? transport.reason : undefined) ?? "it hung up"),
  });
  client.setNotificationHandler("notifications/tools/list_changed", () => listener.onToolsChanged());
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const { message, requestedSchema } = ElicitationParams.parse(params);
    return await listener.onElicitation({ message, schema: requestedSchema });
  });
  try {
    await rejectWhenAborted(client.connect(transport, { ...bounds, timeout: bounds.timeoutMs }), bounds.signal);
  } catch (error) {
    const wasOver = isOver;
    await close();
    const reason = transport instanceof StdioTransport ? transport.reason : undefined;
    throw wasOver && reason !== undefined ? new Error(reason, { cause: error }) : error;
  }
  return {
    offers: offersOf(client),
    request: async (method, params, { signal, timeoutMs }) => {
      try {
        return await client.request({ method, params: { ...params } }, Answer, { signal, timeout: timeoutMs });
      } catch (error) {
        if (error instanceof sdk.ProtocolError || signal.aborted) throw error;
        const ended = transport instanceof StdioTransport ? transport.reason : undefined;
        if (ended !== undefined) throw new Error(ended, { cause: error });
        const isLate = error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.RequestTimeout;
        // A network server may have restarted and forgotten the session, so the next request reconnects.
        if (!isLate && order.type === "url") onLost(errorMessage(error));
        throw error;
      }
    },
    close,
  };
}

function offersOf(client: Client): Connection["offers"] {
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  return { tools: tools !== undefined, resources: resources !== undefined, prompts: prompts !== undefined };
}

async function terminateSession(transport: StreamableHTTPClientTransport): Promise<void> {
  await within(
    transport.terminateSession().catch(() => undefined),
    terminateMs,
  );
}

/** Rejects on abort even if the library ignores the signal while connecting. */
function rejectWhenAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

const acceptAll: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};
