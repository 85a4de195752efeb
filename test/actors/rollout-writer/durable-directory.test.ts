import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failing, Faults, type Call } from "./intercepted-file-system.js";
import { line, WriterHarness } from "./writer-harness.js";

let harness: WriterHarness;
let faults: Faults;
/** Directories in the order of their syncs. */
let synced: string[];

beforeEach(() => {
  harness = new WriterHarness();
  faults = new Faults();
  synced = [];
  const paths = new Map<unknown, string>();
  faults.always("open", async (_call, next, [path]) => {
    const fd = await next();
    paths.set(fd, String(path));
    return fd;
  });
  faults.always("fsync", async (_call, next, [fd]) => {
    await next();
    synced.push(paths.get(fd) ?? "");
  });
});
afterEach(() => harness[Symbol.asyncDispose]());

const saved = { status: "saved" };

test("before a line counts as saved, its file name and every created directory are synced", async () => {
  const path = join(harness.directory, "new", "deep", "a.jsonl");
  const writer = await harness.start(faults.fileSystem);
  expect(await writer.open("a", "create", { path })).toMatchObject({ status: "open" });
  const above = dirname(dirname(dirname(path)));
  expect(synced.slice(-3)).toEqual([above, dirname(dirname(path)), dirname(path)]);
});

test.each(["mkdir", "chmod"] as const)(
  "a directory whose creation failed halfway is synced too: %s",
  async (call: Call) => {
    const path = join(harness.directory, "new", "deep", "a.jsonl");
    const dying = await harness.start(faults.fileSystem);
    faults.once(call, async (...args) => {
      await args[1]();
      return failing("EIO")(...args);
    });
    expect(await dying.open("a", "create", { path })).toMatchObject({ status: "not_saved" });
    // A second writer, as after a crash of the first: it only knows what is on disk.
    synced.length = 0;
    const writer = await harness.start(faults.fileSystem);
    expect(await writer.open("a", "create", { path })).toMatchObject({ status: "open" });
    expect(synced).toEqual([harness.directory, join(harness.directory, "new"), dirname(path)]);
  },
);

test("the name of an empty file is synced before its first line", async () => {
  writeFileSync(harness.path("a"), "");
  const writer = await harness.start(faults.fileSystem);
  expect(await writer.open("a", "append")).toEqual({ status: "open", bytes: 0 });
  expect(synced).toEqual([dirname(harness.directory), harness.directory]);
});

test("each file after the first costs one directory sync", async () => {
  const writer = await harness.start(faults.fileSystem);
  for (const id of ["a", "b", "c"]) await writer.open(id);
  expect(synced).toEqual([dirname(harness.directory), ...Array.from({ length: 3 }, () => harness.directory)]);
});

test.each(["EACCES", "EINVAL"])("a parent directory that cannot be synced (%s) is ignored", async (code) => {
  const writer = await harness.start(faults.fileSystem);
  faults.always("open", (call, next, args) =>
    args[0] === dirname(harness.directory) ? failing(code)(call, next, args) : next(),
  );
  await writer.open("a");
  await writer.append("a", line("one"));
  expect(await writer.flush("a")).toEqual(saved);
});
