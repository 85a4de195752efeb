import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { openOwnerSocket } from "../../../src/actors/rollout-writer/rollout-locks.js";
import type { LockOwner } from "../../../src/messages/actors/rollout-writer.js";
import { releaseLock, acquireLock, LockTemplates, probeSocket } from "../../../src/rollouts/file/lock.js";
import { processStartTime } from "../../../src/base/process/process-state.js";
import { runtimeDirectory, socketPath } from "../../../src/rollouts/file/runtime-directory.js";
import { bundleModule } from "../../support/bundle.js";
import { Child } from "../../support/json-lines-child.js";

let program: Awaited<ReturnType<typeof bundleModule>>;
let directory = "";
let rollout = "";
let lock = "";
let children: Child[] = [];
const withoutForce = { force: false };

beforeAll(async () => {
  program = await bundleModule("test/rollouts/file/lock-child.ts");
});
afterAll(() => program[Symbol.asyncDispose]());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cody-lock-"));
  mkdirSync(join(directory, "run"));
  rollout = join(directory, "conv.jsonl");
  lock = `${rollout}.lock`;
  children = [];
});
afterEach(async () => {
  await Promise.all(children.map((child) => child.kill()));
  rmSync(directory, { recursive: true });
});

const run = (): string => join(directory, "run");

async function start(): Promise<{ child: Child; owner: LockOwner }> {
  const child = new Child(program.file, [run(), rollout]);
  children.push(child);
  return { child, owner: (await child.receive()) as LockOwner };
}

/** A lock owner whose process has ended. */
async function dead(): Promise<LockOwner> {
  const socket = await openOwnerSocket(run());
  await socket.close();
  return { ...socket.owner, pid: 4_194_305 };
}

function leave(path: string, owner: LockOwner): void {
  writeFileSync(path, `${JSON.stringify(owner)}\n`);
}

function locked(): LockOwner {
  return JSON.parse(readFileSync(lock, "utf8")) as LockOwner;
}

test("a lock is taken by one owner, again by the same owner, and by another after its release", async () => {
  const one = await openOwnerSocket(run());
  const two = await openOwnerSocket(run());
  expect(await acquireLock(rollout, one.owner, withoutForce)).toEqual({ status: "taken" });
  expect(await acquireLock(rollout, one.owner, withoutForce)).toEqual({ status: "taken" });
  expect(locked()).toEqual(one.owner);
  expect(statSync(lock).mode & 0o777).toBe(0o600);
  const owner = `this process (pid ${process.pid})`;
  expect(await acquireLock(rollout, two.owner, withoutForce)).toEqual({ status: "in_use", owner });
  await releaseLock(rollout, two.owner);
  expect(locked()).toEqual(one.owner);
  await releaseLock(rollout, one.owner);
  expect(await acquireLock(rollout, two.owner, withoutForce)).toEqual({ status: "taken" });
  await releaseLock(rollout, two.owner);
  expect(readdirSync(directory)).toEqual(["run"]);
  await one.close();
  await two.close();
  expect(readdirSync(run())).toEqual([]);
});

test("locks that are taken together are names of one file, of which nothing else remains", async () => {
  const us = await openOwnerSocket(run());
  const other = await openOwnerSocket(run());
  const templates = new LockTemplates();
  const rollouts = Array.from({ length: 100 }, (_, index) => join(directory, `conv_${index}.jsonl`));
  const [first = "", second = "", ...rest] = rollouts;
  expect(await acquireLock(first, other.owner, withoutForce)).toEqual({ status: "taken" });
  leave(`${second}.lock`, await dead());
  const outcomes = await Promise.all(rollouts.map((path) => acquireLock(path, us.owner, { force: false, templates })));
  const owner = `this process (pid ${process.pid})`;
  expect(outcomes).toEqual([{ status: "in_use", owner }, ...[second, ...rest].map(() => ({ status: "taken" }))]);
  const inodes = new Set(rest.map((path) => statSync(`${path}.lock`).ino));
  expect(inodes.size).toBe(1);
  expect(statSync(`${rest[0]}.lock`).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(`${rest.at(-1)}.lock`, "utf8"))).toEqual(us.owner);
  await setImmediate();
  expect(readdirSync(directory).toSorted()).toEqual(
    [...rollouts.map((path) => basename(`${path}.lock`)), "run"].toSorted(),
  );
  for (const path of rollouts) await releaseLock(path, us.owner);
  expect(readdirSync(directory).toSorted()).toEqual(["conv_0.jsonl.lock", "run"]);
  await us.close();
  await other.close();
});

test("a lock is taken although another program has deleted the file that it should have been linked from", async () => {
  const us = await openOwnerSocket(run());
  const templates = new LockTemplates();
  const before = join(directory, "before.jsonl");
  expect(await acquireLock(before, us.owner, { force: false, templates })).toEqual({ status: "taken" });
  for (const name of readdirSync(directory)) if (name.endsWith(".tmp")) rmSync(join(directory, name));
  expect(await acquireLock(rollout, us.owner, { force: false, templates })).toEqual({ status: "taken" });
  expect(locked()).toEqual(us.owner);
  await setImmediate();
  expect(readdirSync(directory).toSorted()).toEqual(["before.jsonl.lock", "conv.jsonl.lock", "run"]);
  await us.close();
});

test("a lock is in use while its owner's process exists, even if it is stopped", async () => {
  const us = await openOwnerSocket(run());
  const { child, owner } = await start();
  expect(await child.ask("take")).toEqual({ status: "taken" });
  const inUse = { status: "in_use", owner: `pid ${owner.pid}` };
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual(inUse);
  child.stop();
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual(inUse);
  await us.close();
});

test("a lock whose owner was killed is taken over, and the owner's socket is removed", async () => {
  const us = await openOwnerSocket(run());
  const { child, owner } = await start();
  expect(await child.ask("take")).toEqual({ status: "taken" });
  await child.kill();
  expect(existsSync(owner.socket)).toBe(true);
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual({ status: "taken" });
  expect(locked()).toEqual(us.owner);
  expect(existsSync(owner.socket)).toBe(false);
  expect(readdirSync(directory).toSorted()).toEqual(["conv.jsonl.lock", "run"]);
  await us.close();
});

test("of eight processes that compete for a dead owner's lock one gets it", async () => {
  const contenders = await Promise.all(Array.from({ length: 8 }, start));
  for (let round = 0; round < 10; round += 1) {
    leave(lock, await dead());
    const outcomes = await Promise.all(contenders.map(({ child }) => child.ask("take")));
    const winners = contenders.filter((_, index) => (outcomes[index] as { status: string }).status === "taken");
    expect(winners.map(({ owner }) => owner)).toEqual([locked()]);
    expect(readdirSync(directory).toSorted()).toEqual(["conv.jsonl.lock", "run"]);
    await Promise.all(contenders.map(({ child }) => child.ask("release")));
    expect(existsSync(lock)).toBe(false);
  }
});

/** `CODY_LOCK_ROUNDS=200 npx vitest run test/rollouts/file/lock.test.ts` runs 200 rounds with eight processes. */
const rounds = Number(process.env["CODY_LOCK_ROUNDS"] ?? 5);

test("the lock of a live owner whose socket was deleted is not taken over until the owner is killed", async () => {
  const takers = await Promise.all(Array.from({ length: 8 }, start));
  const take = async (): Promise<LockOwner[]> => {
    const outcomes = await Promise.all(takers.map(({ child }) => child.ask("take")));
    return takers.flatMap(({ owner }, index) =>
      (outcomes[index] as { status: string }).status === "taken" ? [owner] : [],
    );
  };
  let thefts = 0;
  let winners = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { child, owner } = await start();
    expect(await child.ask("take")).toEqual({ status: "taken" });
    rmSync(owner.socket);
    thefts += (await take()).length;
    await Promise.all(takers.map((taker) => taker.child.ask("release")));
    leave(lock, owner);
    await child.kill();
    const won = await take();
    winners += won.length;
    expect(won).toEqual([locked()]);
    await Promise.all(takers.map((taker) => taker.child.ask("release")));
  }
  expect({ attempts: rounds * takers.length, thefts, winners }).toEqual({
    attempts: rounds * 8,
    thefts: 0,
    winners: rounds,
  });
}, 600_000);

test("a lock is dead if its pid was reused, and alive if that cannot be determined", async () => {
  const us = await openOwnerSocket(run());
  const { owner } = await start();
  const { child: killed, owner: refusing } = await start();
  await killed.kill();
  const [missing, refused] = [join(run(), "missing.sock"), refusing.socket];
  const { startTime: _, ...old } = owner;
  const inUse = { status: "in_use", owner: `pid ${owner.pid}` };
  const cases = [
    [{ ...owner, socket: missing, startTime: "1" }, { status: "taken" }],
    [{ ...owner, socket: refused }, inUse],
    [{ ...old, socket: missing }, inUse],
    [{ ...old, socket: refused }, { status: "taken" }],
  ] as const;
  for (const [left, outcome] of cases) {
    writeFileSync(lock, JSON.stringify(left));
    expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual(outcome);
    rmSync(lock);
  }
  await us.close();
});

test("an owner's pid is ignored in another or an unknown pid namespace", async () => {
  const us = await openOwnerSocket(run());
  const { child, owner } = await start();
  await child.kill();
  const missing = join(run(), "missing.sock");
  const unknown = { ...us.owner, pidNamespace: "" };
  const container = { status: "in_use", owner: `pid ${owner.pid} in another container` };
  const cases = [
    [{ ...owner, pidNamespace: "pid:[1]" }, us.owner, container],
    [{ ...owner, pidNamespace: "pid:[1]", socket: missing }, us.owner, container],
    [{ ...owner, pidNamespace: "", socket: missing }, us.owner, container],
    [
      { ...owner, pidNamespace: "", socket: missing },
      unknown,
      { status: "in_use", owner: `pid ${owner.pid}, perhaps in another container` },
    ],
    [{ ...owner, pidNamespace: "" }, unknown, { status: "taken" }],
  ] as const;
  for (const [left, taker, outcome] of cases) {
    writeFileSync(lock, JSON.stringify(left));
    expect(await acquireLock(rollout, taker, withoutForce)).toEqual(outcome);
    rmSync(lock);
  }
  await us.close();
});

test("a zombie owner counts as dead", async () => {
  const us = await openOwnerSocket(run());
  // After `exec` no process waits for the first child, so it stays a zombie.
  const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  const owner = { ...us.owner, token: "0".repeat(32), pid, startTime: await processStartTime(pid) };
  leave(lock, { ...owner, socket: join(run(), "missing.sock") });
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual({ status: "in_use", owner: `pid ${pid}` });
  process.kill(pid, "SIGKILL");
  await expect.poll(() => acquireLock(rollout, us.owner, withoutForce)).toEqual({ status: "taken" });
  await us.close();
});

test("a lock that names no process can only be taken by force", async () => {
  const us = await openOwnerSocket(run());
  for (const pid of [0, -1, 1.5, 2 ** 40]) {
    leave(lock, { ...us.owner, token: "0".repeat(32), pid });
    expect(await acquireLock(rollout, us.owner, withoutForce)).toMatchObject({ status: "in_use" });
  }
  await us.close();
});

test("an owner recreates its deleted socket, and the directory too", async () => {
  const us = await openOwnerSocket(run(), 5);
  for (const path of [us.owner.socket, run()]) {
    rmSync(path, { recursive: true });
    await expect.poll(() => probeSocket(us.owner.socket)).toBe("alive");
  }
  await us.close();
  expect(readdirSync(run())).toEqual([]);
});

test("processes killed while taking over a lock do not block the next one", async () => {
  const us = await openOwnerSocket(run());
  const [first, second, third] = [await dead(), await dead(), await dead()];
  leave(lock, first);
  leave(`${lock}.after.${first.token}`, second);
  leave(`${lock}.after.${second.token}`, third);
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual({ status: "taken" });
  expect(locked()).toEqual(us.owner);
  expect(readdirSync(directory).toSorted()).toEqual(["conv.jsonl.lock", "run"]);
  await us.close();
});

test("of eight processes that follow one killed during its takeover one gets the lock", async () => {
  const contenders = await Promise.all(Array.from({ length: 8 }, start));
  for (let round = 0; round < 5; round += 1) {
    const first = await dead();
    leave(lock, first);
    leave(`${lock}.after.${first.token}`, await dead());
    const outcomes = await Promise.all(contenders.map(({ child }) => child.ask("take")));
    const winners = contenders.filter((_, index) => (outcomes[index] as { status: string }).status === "taken");
    expect(winners.map(({ owner }) => owner)).toEqual([locked()]);
    await Promise.all(contenders.map(({ child }) => child.ask("release")));
  }
});

test("a live process in the middle of a takeover is not waited for", async () => {
  const us = await openOwnerSocket(run());
  const first = await dead();
  const { owner } = await start();
  leave(lock, first);
  leave(`${lock}.after.${first.token}`, owner);
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual({ status: "in_use", owner: `pid ${owner.pid}` });
  expect(locked()).toEqual(first);
  await us.close();
});

test("a takeover marker left by a dead thread of this process is reused", async () => {
  const us = await openOwnerSocket(run());
  const first = await dead();
  leave(lock, first);
  leave(`${lock}.after.${first.token}`, us.owner);
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual({ status: "taken" });
  expect(locked()).toEqual(us.owner);
  await us.close();
});

test("a lock of another machine or container, or an unreadable one, can only be taken by force", async () => {
  const us = await openOwnerSocket(run());
  const gone = await dead();
  const cases = [
    [JSON.stringify({ ...gone, host: "other", bootId: "other" }), `pid ${gone.pid} on another machine`],
    [JSON.stringify({ ...gone, host: "", bootId: "other" }), `pid ${gone.pid} on another machine`],
    [JSON.stringify({ ...gone, pidNamespace: "other" }), `pid ${gone.pid} in another container`],
    [JSON.stringify({ ...gone, socket: `/tmp/${"x".repeat(120)}` }), `pid ${gone.pid}`],
    [JSON.stringify({ ...gone, token: "../../x" }), "an owner whose lock cannot be read"],
    ["", "an owner whose lock cannot be read"],
    ["garbage", "an owner whose lock cannot be read"],
  ] as const;
  for (const [content, owner] of cases) {
    writeFileSync(lock, content);
    expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual({ status: "in_use", owner });
    expect(readFileSync(lock, "utf8")).toBe(content);
    expect(await acquireLock(rollout, us.owner, { force: true })).toEqual({ status: "taken" });
    expect(locked()).toEqual(us.owner);
    rmSync(lock);
  }
  await us.close();
});

test("a lock owner from before the last boot is dead", async () => {
  const us = await openOwnerSocket(run());
  const alive = await start();
  // Even if a process listens on that socket now: the owner was on the previous boot.
  leave(lock, { ...alive.owner, host: us.owner.host, bootId: "the boot before" });
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual({
    status: us.owner.host === "" ? "in_use" : "taken",
  });
  await us.close();
});

test("sockets outside the runtime directory are left alone", async () => {
  const us = await openOwnerSocket(run());
  const victim = join(directory, "victim");
  writeFileSync(victim, "precious");
  leave(lock, { ...(await dead()), socket: victim });
  expect(await acquireLock(rollout, us.owner, withoutForce)).toEqual({ status: "taken" });
  expect(readFileSync(victim, "utf8")).toBe("precious");
  await us.close();
});

test("sockets are created in the user's runtime directory, or in /tmp", async () => {
  const uid = process.getuid?.() ?? 0;
  expect(await runtimeDirectory({ XDG_RUNTIME_DIR: run() })).toBe(join(run(), "cody"));
  chmodSync(join(run(), "cody"), 0o777);
  await runtimeDirectory({ XDG_RUNTIME_DIR: run() });
  expect(statSync(join(run(), "cody")).mode & 0o777).toBe(0o700);
  const long = join(directory, "x".repeat(100));
  mkdirSync(long);
  for (const base of [undefined, join(directory, "none"), long]) {
    expect(await runtimeDirectory({ XDG_RUNTIME_DIR: base })).toBe(`/tmp/cody-${uid}`);
  }
  expect(() => socketPath(long, "0".repeat(32))).toThrow("is too long");
});

test("a runtime directory that is a symlink or belongs to another user is refused", async () => {
  symlinkSync(directory, join(run(), "cody"));
  await expect(runtimeDirectory({ XDG_RUNTIME_DIR: run() })).rejects.toThrow("does not belong to this user");
});

test("an owner's socket does not keep its process alive", async () => {
  const { child } = await start();
  child.end();
  expect(await child.exited).toBe(0);
});
