import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CodexLock, CodexLocks } from "../../../src/actors/rollout-writer/rollout-locks.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const id = "01a1e1d7-dabe-7fa0-8c45-6d698618970c";

async function codexHome() {
  const home = await temporaryFolder();
  const directory = join(home, "thread-writer-locks");
  const open = (searchPath = process.env["PATH"]) => new CodexLocks({ codexHome: home, searchPath });
  return { home, directory, open };
}

/** Holds a lock in another process until it is killed. */
async function holder(path: string): Promise<ChildProcess> {
  const script = 'exec 9<>"$1" && flock -n 9 && echo held && exec sleep 600';
  const child = spawn("sh", ["-c", script, "sh", path], { stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

/** Whether another process could take the lock now. */
async function isFree(path: string): Promise<boolean> {
  const [code] = await once(spawn("flock", ["-n", path, "true"]), "exit");
  return code === 0;
}

async function release(lock: CodexLock): Promise<void> {
  if (lock.status !== "taken") throw new Error(`the lock is ${lock.status}`);
  await lock.release();
}

test("a lock excludes Codex and other processes until it is released, and leaves no file", async () => {
  const { directory, open } = await codexHome();
  const lock = await open().take(`conv_${id}`);
  const path = join(directory, `${id}.lock`);
  expect(await isFree(path)).toBe(false);
  expect(await open().take(id)).toEqual({ status: "held" });
  await release(lock);
  expect(await readdir(directory)).toEqual([".coordination.lock"]);
  await release(await open().take(id));
});

test("a lock held by Codex is in use until Codex ends, however it ends", async () => {
  const { directory, open } = await codexHome();
  await mkdir(directory);
  const path = join(directory, `${id}.lock`);
  const codex = await holder(path);
  expect(await open().take(id)).toEqual({ status: "held" });
  codex.kill("SIGKILL");
  await once(codex, "exit");
  await release(await open().take(id));
});

test("taking a lock waits while Codex creates or removes it", async () => {
  const { directory, open } = await codexHome();
  await mkdir(directory);
  const codex = await holder(join(directory, ".coordination.lock"));
  const taking = open().take(id);
  await expect(Promise.race([taking, stat(join(directory, `${id}.lock`))])).rejects.toThrow("ENOENT");
  codex.kill("SIGKILL");
  await release(await taking);
});

test("many locks are taken and released concurrently", async () => {
  const { directory, open } = await codexHome();
  const locks = open();
  const ids = Array.from({ length: 20 }, (_, number) => `${id.slice(0, -2)}${10 + number}`);
  const taken = await Promise.all(ids.map((each) => locks.take(each)));
  expect(new Set(taken.map(({ status }) => status))).toEqual(new Set(["taken"]));
  await Promise.all(taken.map(release));
  expect(await readdir(directory)).toEqual([".coordination.lock"]);
});

test("without flock(1), or where no lock can be created, the state is unknown", async () => {
  const { home, directory, open } = await codexHome();
  expect(await open(home).take(id)).toEqual({ status: "unavailable", reason: "flock(1) is not installed" });
  await writeFile(join(home, "flock"), "#!/bin/sh\nexit 66\n", { mode: 0o700 });
  expect(await open(home).take(id)).toEqual({ status: "unavailable", reason: "flock(1) ended with 66" });
  await symlink(home, join(directory, `${id}.lock`));
  expect(await open().take(id)).toMatchObject({ status: "unavailable", reason: expect.stringContaining("ELOOP") });
});

async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

test("created files and folders are private to their user, and existing ones keep their mode", async () => {
  const { home, directory, open } = await codexHome();
  await open().take(id);
  expect(await mode(directory)).toBe(0o700);
  expect(await mode(join(directory, `${id}.lock`))).toBe(0o600);
  await chmod(directory, 0o755);
  await open().take(id);
  expect(await mode(directory)).toBe(0o755);
  expect(await readdir(home)).toEqual(["thread-writer-locks"]);
});

test("Codex rollouts are recognised under any path, symlinks included", async () => {
  const { home, open } = await codexHome();
  const name = `rollout-2026-11-06T03-04-05-${id}.jsonl`;
  await mkdir(join(home, "sessions"));
  await writeFile(join(home, "sessions", name), "");
  await symlink(home, join(home, "link"));
  const locks = open();
  expect(await locks.covers(join(home, "sessions", "2026", "11", "06", name))).toBe(true);
  expect(await locks.covers(join(home, "link", "sessions", name))).toBe(true);
  expect(await locks.covers(join(home, name))).toBe(false);
  expect(await locks.covers(join(home, "sessions-of-another", name))).toBe(false);
});
