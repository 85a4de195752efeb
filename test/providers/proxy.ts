import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { onTestFinished } from "vitest";

/** Starts a local server and returns its host and port; it is closed when the test finishes. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A real CONNECT proxy; `asked` lists the hosts it was asked to connect to. */
export async function startProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on("connect", (request, client, head) => {
    asked.push(request.url ?? "");
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
    onTestFinished(() => {
      client.destroy();
      target.destroy();
    });
  });
  return { url: `http://${await listen(proxy)}`, asked };
}
