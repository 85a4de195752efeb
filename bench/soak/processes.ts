import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ServerReport, SoakLoad, SoakReport } from "./load.js";

/** The entry of the child processes: the measured client and the server each run in their own. */
const child = fileURLToPath(new URL("./threads/soak-child.js", import.meta.url));
/** The time a run may take beyond its seconds: the last turns, the shutdown, a busy machine. */
const extraMs = 180_000;

export interface ServerProcess extends AsyncDisposable {
  readonly urls: SoakLoad["urls"];
  report(): Promise<ServerReport>;
}

export async function startServer(): Promise<ServerProcess> {
  const server = fork(child, ["server"]);
  const urls = (await answerOf(server)) as SoakLoad["urls"];
  return {
    urls,
    report: async () => {
      server.send("report");
      return (await answerOf(server)) as ServerReport;
    },
    [Symbol.asyncDispose]: async () => {
      server.kill();
      await once(server, "exit");
    },
  };
}

/** The client's report, and whether its process exited by itself, as nothing may keep it alive. */
export async function playedIn(load: SoakLoad): Promise<{ report: SoakReport; endedByItself: boolean }> {
  const client = fork(child, ["client", JSON.stringify(load)], {
    execArgv: [...process.execArgv, "--expose-gc"],
    timeout: load.seconds * 1000 + extraMs,
  });
  const exit = once(client, "exit");
  const report = (await answerOf(client)) as SoakReport;
  const [code] = (await exit) as [number | null];
  return { report, endedByItself: code === 0 };
}

async function answerOf(forked: ChildProcess): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`ended with ${code}`));
    forked.once("exit", onExit);
    forked.once("message", (message) => {
      forked.off("exit", onExit);
      resolve(message);
    });
  });
}
