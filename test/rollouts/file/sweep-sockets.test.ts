import { link, readdir, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { sweepSockets } from "../../../src/rollouts/file/lock.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const hour = 60 * 60 * 1000;

/** Leaves the socket of a killed process; `PID` in the path becomes its pid. */
async function leaveSocket(path: string): Promise<void> {
  const script =
    "require('node:net').createServer().listen(process.argv[1].replace('PID', process.pid), () => console.log('ready'))";
  const child = spawn(process.execPath, ["-e", script, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}

test("a recent socket of an ended process is removed, one of a live process is not", async () => {
  const directory = await temporaryFolder();
  await leaveSocket(join(directory, "PID.0123456789abcdef.sock"));
  const refusing = `${process.pid}.0123456789abcdef.sock`;
  await leaveSocket(join(directory, refusing));
  const listening = "4194305.0123456789abcdef.sock";
  const server = createServer().listen(join(directory, listening));
  onTestFinished(() => void server.close());
  await once(server, "listening");
  await writeFile(join(directory, "4194305.no-socket.sock"), "");
  await sweepSockets(directory, Date.now());
  expect((await readdir(directory)).toSorted()).toEqual([refusing, listening, "4194305.no-socket.sock"].toSorted());
});

test("old sockets without a listener are removed, recent and live ones stay", async () => {
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
])("many live $kind sockets do not prevent the removal of dead ones", async ({ age }) => {
  const directory = await temporaryFolder();
  const now = Date.now();
  const alive = join(directory, "alive.sock");
  const server = createServer().listen(alive);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  await utimes(alive, (now - age) / 1000, (now - age) / 1000);
  // Hard links to the same socket are live too.
  for (let number = 0; number < 40; number += 1) await link(alive, join(directory, `alive-${number}.sock`));
  await leaveSocket(join(directory, "dead.sock"));
  await utimes(join(directory, "dead.sock"), (now - 2 * hour) / 1000, (now - 2 * hour) / 1000);
  await sweepSockets(directory, now);
  const left = await readdir(directory);
  expect(left).toHaveLength(41);
  expect(left).not.toContain("dead.sock");
});

test("the number of dead sockets removed at a time is bounded", async () => {
  const directory = await temporaryFolder();
  const now = Date.now();
  const dead = join(directory, "dead.sock");
  await leaveSocket(dead);
  await utimes(dead, (now - 2 * hour) / 1000, (now - 2 * hour) / 1000);
  for (let number = 1; number < 300; number += 1) await link(dead, join(directory, `dead-${number}.sock`));
  await sweepSockets(directory, now);
  expect(await readdir(directory)).toHaveLength(44);
  await sweepSockets(directory, now);
  expect(await readdir(directory)).toEqual([]);
});
