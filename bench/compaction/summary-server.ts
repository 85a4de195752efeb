import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export async function startServer(): Promise<{ url: string } & AsyncDisposable> {
  const server = fork(fileURLToPath(new URL("./threads/summary-server.js", import.meta.url)));
  const [url] = (await once(server, "message")) as [string];
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.kill();
      await once(server, "exit");
    },
  };
}
