import { readdir, utimes } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { sweepSockets } from "../../src/rollouts/sweep-sockets.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const hour = 60 * 60 * 1000;

/** The socket of a process that was killed. */
async function leaveSocket(path: string): Promise<void> {
  const script = "require('node:net').createServer().listen(process.argv[1], () => console.log('ready'))";
  const child = spawn(process.execPath, ["-e", script, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}

test("old sockets nobody listens on are removed, young and living ones stay", async () => {
  const directory = await temporaryFolder();
  const now = Date.now();
  const old = (now - 2 * hour) / 1000;
  await leaveSocket(join(directory, "dead.sock"));
  await leaveSocket(join(directory, "young.sock"));
  const server = createServer().listen(join(directory, "alive.sock"));
  onTestFinished(() => void server.close());
  await once(server, "listening");
  for (const name of ["dead", "alive"]) await utimes(join(directory, `${name}.sock`), old, old);
  await sweepSockets(directory, now);
  expect((await readdir(directory)).toSorted()).toEqual(["alive.sock", "young.sock"]);
});
