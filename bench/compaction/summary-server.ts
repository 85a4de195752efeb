import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const root = /^.*\/(?=build\/)/.exec(import.meta.url)?.[0];

/** Returns the path of a child process. Found from the root, because a module may be bundled into a chunk elsewhere. */
export function threadProgram(name: string): string {
  return fileURLToPath(new URL(`build/bench/threads/${name}.js`, root));
}

export async function startServer(): Promise<{ url: string } & AsyncDisposable> {
  const server = fork(threadProgram("summary-server"));
  const [url] = (await once(server, "message")) as [string];
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.kill();
      await once(server, "exit");
    },
  };
}
