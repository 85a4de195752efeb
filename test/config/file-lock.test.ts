import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { withFileLock } from "../../src/config/file-lock.js";
import { bundleModule } from "../support/bundle.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function deadPid(): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ["-p", "process.pid"]);
  return Number(stdout);
}

test("work under one lock never overlaps and leaves no file behind", async () => {
  const lock = join(await temporaryFolder(), "lock");
  let running = 0;
  const overlaps: number[] = [];
  const work = async () => {
    running += 1;
    overlaps.push(running);
    await readdir(join(lock, ".."));
    running -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => withFileLock(lock, work)));
  expect(overlaps).toEqual(Array.from({ length: 10 }, () => 1));
  expect(await readdir(join(lock, ".."))).toEqual([]);
});

test("withFileLock returns the value of the work, and an error releases the lock", async () => {
  const lock = join(await temporaryFolder(), "lock");
  await expect(withFileLock(lock, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withFileLock(lock, async () => "yes")).toBe("yes");
});

test("files left by processes killed while acquiring the lock are removed", async () => {
  const folder = await temporaryFolder();
  const dead = await deadPid();
  for (const name of [`lock.${dead}.1`, `lock.${dead}.1.copy`]) await writeFile(join(folder, name), "");
  await withFileLock(join(folder, "lock"), () => Promise.resolve());
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["a process that died", []],
  ["a process that died, like the process that took over", ["lock.after.DEADsomeone"]],
  [
    "a process that died, like two processes that took over, with marks of an older version",
    ["lock.after.DEADsomeone", "lock.after.DEADsomeone.after.DEADtaker"],
  ],
])(
  "the lock of %s is taken over by one of twenty waiters",
  async (_whose, claims) => {
    await using bundle = await bundleModule("src/config/file-lock.ts");
    const folder = await temporaryFolder();
    const lock = join(folder, "lock");
    const counter = join(folder, "counter");
    const dead = await deadPid();
    await writeFile(lock, `${dead} someone`);
    for (const claim of claims) await writeFile(join(folder, claim.replaceAll("DEAD", String(dead))), `${dead} taker`);
    await writeFile(counter, "0");
    const script = `
    import { readFile, writeFile } from "node:fs/promises";
    const { withFileLock } = await import(process.argv[1]);
    const [, , lock, counter] = process.argv;
    const add = async () => writeFile(counter, String(Number(await readFile(counter, "utf8")) + 1));
    for (let turn = 0; turn < 3; turn += 1) await withFileLock(lock, add);
  `;
    const add = () =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", script, bundle.file, lock, counter]);
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await readFile(counter, "utf8")).toBe("60");
    expect(await readdir(folder)).toEqual(["counter"]);
  },
  60_000,
);

const others: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  "a pipe": (path) => promisify(execFile)("mkfifo", [path]),
  "a link to a device without end": (path) => symlink("/dev/zero", path),
  "a link to nothing": (path) => symlink(`${path}.gone`, path),
  "a folder": (path) => mkdir(path),
  "a socket": async (path) => {
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await once(server, "listening");
  },
};

test.each(Object.entries(others))(
  "a lock that is %s is rejected as invalid immediately",
  async (_what, make) => {
    await using bundle = await bundleModule("src/config/file-lock.ts");
    const folder = await temporaryFolder();
    await make(join(folder, "lock"));
    const script = `
    const { withFileLock } = await import(process.argv[1]);
    console.log(await withFileLock(process.argv[2], () => "had").catch(({ message }) => message));
  `;
    // In its own process, which can be killed while it waits for a pipe, and with limited memory.
    const parts = [process.execPath, "--input-type=module", "-e", script, bundle.file, join(folder, "lock")];
    const limited = 'ulimit -v 8000000; exec "$0" "$@"';
    const ends = { timeout: 20_000, killSignal: "SIGKILL" } as const;
    const { stdout } = await promisify(execFile)("sh", ["-c", limited, ...parts], ends);
    expect(stdout).toBe("lock is not a regular file and cannot be a lock: delete it\n");
    expect(await readdir(folder)).toEqual(["lock"]);
  },
  30_000,
);
