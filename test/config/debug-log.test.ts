import { mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type LogLevel, openDebugLog } from "../../src/config/debug-log.js";
import { createRedactor } from "../../src/config/secrets/redact.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const start = Date.parse("2026-11-16T12:00:00.000Z");
const time = "2026-11-16T12:00:00.000Z";

async function openLog(level: LogLevel = "debug") {
  const directory = join(await temporaryFolder(), "home/logs");
  const clock = { now: start };
  const log = openDebugLog({ directory, redact: createRedactor(["my-secret"]), level, now: () => clock.now });
  const lines = async (day = "2026-11-16"): Promise<unknown[]> => {
    await log.close();
    const text = await readFile(join(directory, `cody-${day}.log`), "utf8");
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown);
  };
  return { directory, clock, log, lines };
}

test("lines are JSON in the file of their day, readable by the owner only", async () => {
  const { directory, clock, log, lines } = await openLog();
  log.write("info", "one");
  log.write("error", "two\n\u001b[31m", { count: 1, error: new Error("broken"), big: 2n });
  clock.now += 24 * 60 * 60 * 1000;
  log.write("debug", "three");
  expect(await lines()).toEqual([
    { time, level: "info", message: "one" },
    {
      time,
      level: "error",
      message: "two\n\u001b[31m",
      fields: { count: 1, error: { name: "Error", message: "broken" }, big: "2" },
    },
  ]);
  expect(await lines("2026-11-17")).toEqual([{ time: "2026-11-17T12:00:00.000Z", level: "debug", message: "three" }]);
  expect(await readFile(join(directory, "cody-2026-11-16.log"), "utf8")).not.toContain("\u001b");
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, "cody-2026-11-16.log"))).mode & 0o777).toBe(0o600);
});

test("no file is created before the first line at an enabled level", async () => {
  const { directory, log } = await openLog("warn");
  log.write("info", "not wanted");
  await log.close();
  await expect(stat(directory)).rejects.toMatchObject({ code: "ENOENT" });
});

test("secrets are redacted in messages and fields", async () => {
  const { log, lines } = await openLog();
  log.write("info", "key my-secret", { text: "my-secret", nested: [{ password: 7, accessToken: "x" }], tokens: 5 });
  expect(await lines()).toEqual([
    {
      time,
      level: "info",
      message: "key [redacted]",
      fields: { text: "[redacted]", nested: [{ password: "[redacted]", accessToken: "[redacted]" }], tokens: 5 },
    },
  ]);
});

test("an error loop is limited: after fifty lines ten each second, and dropped lines are counted", async () => {
  const { clock, log, lines } = await openLog();
  for (let count = 0; count < 1_000; count += 1) log.write("error", "again");
  clock.now += 100;
  log.write("error", "later");
  log.write("error", "too soon");
  const again = Array.from({ length: 50 }, () => ({ time, level: "error", message: "again" }));
  const then = "2026-11-16T12:00:00.100Z";
  expect(await lines()).toEqual([
    ...again,
    { time: then, level: "warn", message: "dropped 950 lines: too many at once" },
    { time: then, level: "error", message: "later" },
    { time: then, level: "warn", message: "dropped 1 line: too many at once" },
  ]);
});

test("a line has a maximum size, and a value that cannot be serialized is noted", async () => {
  const { log, lines } = await openLog();
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  log.write("info", "x".repeat(1_000_000), { many: Array.from({ length: 100_000 }, () => "y") });
  log.write("info", "circular", circular);
  expect(await lines()).toEqual([
    { time, level: "info", message: "x".repeat(2_000), fields: "too long" },
    { time, level: "info", message: "circular", fields: "not representable" },
  ]);
});

test("files older than two weeks are deleted, other files stay", async () => {
  const { directory, log } = await openLog();
  await mkdir(directory, { recursive: true });
  const names = ["cody-2026-11-01.log", "cody-2026-11-02.log", "cody-2026-11-15.log", "cody-old.log", "notes.txt"];
  for (const name of names) await writeFile(join(directory, name), "");
  log.write("info", "one");
  await log.close();
  expect((await readdir(directory)).toSorted()).toEqual([
    "cody-2026-11-02.log",
    "cody-2026-11-15.log",
    "cody-2026-11-16.log",
    "cody-old.log",
    "notes.txt",
  ]);
});

test("a process that runs for weeks deletes old files too", async () => {
  const { directory, log, clock } = await openLog();
  log.write("info", "one");
  await log.close();
  clock.now += 20 * 24 * 60 * 60 * 1000;
  log.write("info", "two");
  await log.close();
  expect(await readdir(directory)).toEqual(["cody-2026-12-06.log"]);
});

test("a day's file stops growing at its limit", async () => {
  const { directory, log } = await openLog();
  const file = join(directory, "cody-2026-11-16.log");
  await mkdir(directory, { recursive: true });
  await writeFile(file, "");
  await truncate(file, 32 * 1024 * 1024);
  log.write("info", "one more");
  await log.close();
  expect((await stat(file)).size).toBe(32 * 1024 * 1024);
});

test("a log that cannot be written fails silently", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "logs"), "a file is in the way");
  const log = openDebugLog({
    directory: join(folder, "logs"),
    redact: (text) => text,
    level: "debug",
    now: () => start,
  });
  log.write("error", "lost");
  await log.close();
  log.write("error", "lost too");
  await log.close();
  expect(await readFile(join(folder, "logs"), "utf8")).toBe("a file is in the way");
});

test("a symlink in place of the file is not followed", async () => {
  const { directory, log } = await openLog();
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "victim"), "untouched");
  await symlink(join(directory, "victim"), join(directory, "cody-2026-11-16.log"));
  log.write("info", "one");
  await log.close();
  expect(await readFile(join(directory, "victim"), "utf8")).toBe("untouched");
});
