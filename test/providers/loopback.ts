import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Loopback {
  readonly url: string;
  readonly port: number;
  readonly requests: Received[];
  /** Connections accepted so far. */
  readonly connections: number;
  readonly open: ReadonlySet<Socket>;
}

export type Answer = (response: ServerResponse, request: Received) => void | Promise<void>;

/** Starts a real local HTTP server that answers with `answer`; it is closed when the test finishes. */
export async function serve(answer: Answer): Promise<Loopback> {
  const requests: Received[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    message.setEncoding("utf8");
    let body = "";
    for await (const chunk of message) body += String(chunk);
    const received = { path: message.url ?? "", headers: message.headers, body };
    requests.push(received);
    await answer(response, received);
  };
  const server = createServer((message, response) => void handle(message, response));
  server.keepAliveTimeout = 60_000;
  server.on("connection", (socket) => {
    connections += 1;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    open,
    get connections() {
      return connections;
    },
  };
}

/** Answers with an event stream of these pieces, each written separately. */
export function streaming(...pieces: readonly (string | Uint8Array)[]): Answer {
  return async (response) => {
    begin(response);
    for (const piece of pieces) {
      response.write(piece);
      await setImmediate();
    }
    response.end();
  };
}

/** Sends the headers and these pieces of an event stream, and leaves it open. */
export function begin(response: ServerResponse, ...pieces: readonly (string | Uint8Array)[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const piece of pieces) response.write(piece);
}

/** Each value as one unnamed server-sent event. */
export function dataOf(...values: readonly unknown[]): string {
  return values.map((value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`).join("");
}
