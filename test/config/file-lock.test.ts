import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { withFileLock } from "../../src/config/file-lock.js";
import { bundleModule } from "../support/bundle.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function deadPid(): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ["-p", "process.pid"]);
  return Number(stdout);
}

test("work under one lock never overlaps, and nothing is left behind", async () => {
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

test("the value of the work comes back, and its error frees the lock", async () => {
  const lock = join(await temporaryFolder(), "lock");
  await expect(withFileLock(lock, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withFileLock(lock, async () => "yes")).toBe("yes");
});

test("what those left who were killed on their way to the lock goes with it", async () => {
  const folder = await temporaryFolder();
  const dead = await deadPid();
  for (const name of [`lock.${dead}.1`, `lock.${dead}.1.copy`]) await writeFile(join(folder, name), "");
  await withFileLock(join(folder, "lock"), () => Promise.resolve());
  expect(await readdir(folder)).toEqual([]);
});

test("the lock of a process that died is taken over, by one of twenty that wait for it", async () => {
  await using bundle = await bundleModule("src/config/file-lock.ts");
  const folder = await temporaryFolder();
  const lock = join(folder, "lock");
  const counter = join(folder, "counter");
  await writeFile(lock, `${await deadPid()} someone`);
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
});
