import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Load, Measured } from "./load.js";
import type { ThreadCost, ThreadLoad } from "./thread-load.js";

/** The entry of the child processes: each measured client and the server run in their own. */
const child = fileURLToPath(import.meta.url.replace(/(\/build\/bench\/).*$/, "$1threads/scale-child.js"));

/** Starts a server for each delay whose answers have this number of deltas. */
export async function startServer(deltas = 200): Promise<{ url(delayMs: number): string } & AsyncDisposable> {
  const server = fork(child, ["server", String(deltas)]);
  const urls = (await answerOf(server)) as Record<number, string>;
  return {
    url: (delayMs) => urls[delayMs] ?? "",
    [Symbol.asyncDispose]: async () => {
      server.kill();
      await once(server, "exit");
    },
  };
}

export async function measuredIn(what: "bare" | "cody" | "unsaved", load: Load): Promise<Measured> {
  return (await answerOf(fork(child, [what, JSON.stringify(load)], { execArgv: ["--expose-gc"] }))) as Measured;
}

export async function costIn(load: ThreadLoad): Promise<ThreadCost> {
  return (await answerOf(fork(child, ["threads", JSON.stringify(load)]))) as ThreadCost;
}

async function answerOf(forked: ChildProcess): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    forked.once("message", resolve);
    forked.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
}
