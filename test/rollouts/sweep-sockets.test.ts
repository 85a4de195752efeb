import { link, readdir, utimes } from "node:fs/promises";
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

test.each([
  { kind: "young", age: 0 },
  { kind: "old", age: 2 * hour },
])("many living $kind sockets do not keep the dead ones", async ({ age }) => {
  const directory = await temporaryFolder();
  const now = Date.now();
  const alive = join(directory, "alive.sock");
  const server = createServer().listen(alive);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  await utimes(alive, (now - age) / 1000, (now - age) / 1000);
  // Other names of the same socket answer as it does.
  for (let number = 0; number < 40; number += 1) await link(alive, join(directory, `alive-${number}.sock`));
  await leaveSocket(join(directory, "dead.sock"));
  await utimes(join(directory, "dead.sock"), (now - 2 * hour) / 1000, (now - 2 * hour) / 1000);
  await sweepSockets(directory, now);
  const left = await readdir(directory);
  expect(left).toHaveLength(41);
  expect(left).not.toContain("dead.sock");
});

test("no more than a few dead sockets are removed at a time", async () => {
  const directory = await temporaryFolder();
  const now = Date.now();
  const dead = join(directory, "dead.sock");
  await leaveSocket(dead);
  await utimes(dead, (now - 2 * hour) / 1000, (now - 2 * hour) / 1000);
  for (let number = 1; number < 40; number += 1) await link(dead, join(directory, `dead-${number}.sock`));
  await sweepSockets(directory, now);
  expect(await readdir(directory)).toHaveLength(8);
  await sweepSockets(directory, now);
  expect(await readdir(directory)).toEqual([]);
});
