import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ChangeFolder } from "../../../src/changes/workspace/change-folder.js";
import { defaultLimits } from "../../../src/changes/workspace/walk.js";
import { endSnapshot, takeSnapshot } from "../../../src/changes/workspace/snapshot.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A workspace with a file that was not touched for long. */
async function workspace() {
  const [cwd, home] = [await temporaryFolder(), await temporaryFolder()];
  await writeFile(join(cwd, "a"), "1\n");
  await utimes(join(cwd, "a"), 1, 1);
  const places = { workspaces: join(home, "workspaces"), folder: join(home, "snapshots"), outside: [home] };
  return { cwd, home, ...places, maxBytes: 1e6, secrets: [], turnId: "t1", now: Date.now() + 60_000 };
}

async function storedNames(home: string): Promise<string[]> {
  const folders = await readdir(join(home, "workspaces"));
  return await readdir(join(home, "workspaces", folders[0] ?? ""));
}

test("what a turn changed that died with its process is kept before the next one begins", async () => {
  const request = await workspace();
  expect(await takeSnapshot(request)).toEqual({ status: "taken" });
  await writeFile(join(request.cwd, "a"), "2\n");
  const next = { ...request, turnId: "t2" };
  expect(await takeSnapshot(next)).toMatchObject({
    status: "taken",
    settled: { turnId: "t1", files: [{ path: "a" }], record: { number: 1 } },
  });
  await writeFile(join(request.cwd, "a"), "3\n");
  expect(await endSnapshot(next)).toMatchObject({ turnId: "t2", record: { number: 2 } });
  const records = await new ChangeFolder(request.folder).records();
  expect(records.map(({ turn_id, number }) => [turn_id, number])).toEqual([
    ["t1", 1],
    ["t2", 2],
  ]);
});

test("a turn that goes on after its process died keeps what was there before its first change", async () => {
  const request = await workspace();
  await takeSnapshot(request);
  await writeFile(join(request.cwd, "a"), "2\n");
  expect(await takeSnapshot(request)).toEqual({ status: "taken" });
  const changes = await endSnapshot(request);
  const before = changes?.files[0]?.before?.sha256 ?? "";
  expect(await readFile(join(request.folder, before), "utf8")).toBe("1\n");
});

test("a file that was not touched is not read again, and one that was is, whatever its size and time", async () => {
  const request = await workspace();
  await takeSnapshot(request);
  expect(await endSnapshot(request)).toBeUndefined();
  // Without its content in the store it would be read, and be there again.
  const again = { ...request, turnId: "t2" };
  await takeSnapshot(again);
  await writeFile(join(request.cwd, "a"), "2\n");
  await utimes(join(request.cwd, "a"), 1, 1);
  expect((await endSnapshot(again))?.files).toMatchObject([{ path: "a" }]);
});

test.each([
  ["files", { maxFiles: 1 }, "the folder has more than 1 files that git does not ignore"],
  ["entries", { maxEntries: 1 }, "the folder has more than 1 files and folders that git does not ignore"],
  ["bytes", { maxBytes: 3 }, /are larger than 0\.000003 MB/],
])("a workspace with too many %s is not tracked, and it is said why", async (_what, limits, reason) => {
  const request = await workspace();
  await writeFile(join(request.cwd, "b"), "2\n");
  const outcome = await takeSnapshot({ ...request, limits: { ...defaultLimits, ...limits } });
  expect(outcome).toEqual({ status: "untracked", reason: expect.stringMatching(reason) });
  expect(await endSnapshot(request)).toBeUndefined();
});

test("of a file that is too large it is known that it has changed", async () => {
  const request = { ...(await workspace()), limits: { ...defaultLimits, maxFileBytes: 3 } };
  await writeFile(join(request.cwd, "large"), "12345");
  await takeSnapshot(request);
  await writeFile(join(request.cwd, "large"), "54321");
  expect(await endSnapshot(request)).toMatchObject({ files: [], leftOut: [{ path: "large", why: "too_large" }] });
});

test("over its bound nothing more is kept for a conversation, and what changed is still known", async () => {
  const request = { ...(await workspace()), maxBytes: 10 };
  await takeSnapshot(request);
  await writeFile(join(request.cwd, "a"), "2\n");
  const changes = await endSnapshot(request);
  expect(changes).toMatchObject({ files: [{ path: "a" }], notKept: expect.stringContaining("0.00001 MB") });
  expect(await readdir(request.folder)).toEqual([]);
});

test("contents no file has any more are removed from the store after a day", async () => {
  const request = await workspace();
  await takeSnapshot(request);
  await writeFile(join(request.cwd, "a"), "2\n");
  await endSnapshot(request);
  const before = (await storedNames(request.home)).length;
  const hour = 60 * 60 * 1000;
  await takeSnapshot({ ...request, turnId: "t2", now: request.now + 23 * hour });
  expect((await storedNames(request.home)).length).toBeGreaterThanOrEqual(before);
  await takeSnapshot({ ...request, turnId: "t3", now: request.now + 50 * hour });
  await takeSnapshot({ ...request, turnId: "t4", now: request.now + 100 * hour });
  // The index, the one file's content, and the newest trees.
  expect((await storedNames(request.home)).length).toBeLessThan(before);
});

test("our own folders are no workspace", async () => {
  const request = await workspace();
  await mkdir(join(request.home, "inner"));
  expect(await takeSnapshot({ ...request, cwd: join(request.home, "inner") })).toEqual({ status: "outside" });
});

test("what holds secrets, by its name or by what is in it, is told to have changed and kept nowhere", async () => {
  const request = { ...(await workspace()), secrets: ["sk-known-secret"] };
  await takeSnapshot(request);
  const texts = { ".env": "A=1", ".env.example": "A=", "deep.pem": "---", "code.ts": 'key("sk-known-secret")' };
  await Promise.all(Object.entries(texts).map(([name, text]) => writeFile(join(request.cwd, name), text)));
  const changes = await endSnapshot(request);
  expect(changes?.files.map(({ path }) => path)).toEqual([".env.example"]);
  expect(changes?.leftOut).toEqual([
    { path: ".env", why: "secret" },
    { path: "code.ts", why: "secret" },
    { path: "deep.pem", why: "secret" },
  ]);
});

test("a turn that changes what is ignored has made and deleted nothing by that", async () => {
  const request = await workspace();
  const { cwd } = request;
  await writeFile(join(cwd, ".gitignore"), "data\n");
  await writeFile(join(cwd, "data"), "the user's own");
  await takeSnapshot(request);
  await writeFile(join(cwd, ".gitignore"), "a\n");
  expect((await endSnapshot(request))?.files.map(({ path }) => path)).toEqual([".gitignore"]);
});

test("nor does a turn that changes what the clone alone ignores", async () => {
  const request = await workspace();
  const exclude = join(request.cwd, ".git", "info", "exclude");
  await mkdir(dirname(exclude), { recursive: true });
  await writeFile(exclude, "data\n");
  await writeFile(join(request.cwd, "data"), "the user's own");
  await takeSnapshot(request);
  await writeFile(exclude, "*\n");
  await writeFile(join(request.cwd, "a"), "2\n");
  expect((await endSnapshot(request))?.files.map(({ path, after }) => [path, after !== null])).toEqual([["a", true]]);
});

test("of a folder that a turn fills with too many files it is known what became of those there were", async () => {
  const limits = { maxFiles: 2, maxEntries: 100, maxBytes: 1e6, maxFileBytes: 1e6 };
  const request = { ...(await workspace()), limits };
  await takeSnapshot(request);
  await Promise.all(["a", "b", "c", "d"].map((name) => writeFile(join(request.cwd, name), "new")));
  expect(await endSnapshot(request)).toMatchObject({
    files: [{ path: "a" }],
    incomplete: expect.stringContaining("more than 2 files") as string,
  });
});

test("of what has a name that is no UTF-8 it is known that it has changed, in whatever folder", async () => {
  const request = await workspace();
  const at = (name: string) => Buffer.concat([Buffer.from(`${request.cwd}/`), Buffer.from(name, "latin1")]);
  await writeFile(join(request.cwd, ".gitignore"), "*.log\n");
  await mkdir(at("d\xe9"));
  for (const name of ["caf\xe9", "same\xff", "d\xe9/in", "d\xe9/same"]) await writeFile(at(name), "1\n");
  await takeSnapshot(request);
  await writeFile(at("caf\xe9"), "2\n");
  await writeFile(at("d\xe9/in"), "2\n");
  for (const name of ["new\xe9", "new\xe9.log"]) await writeFile(at(name), "1\n");
  await writeFile(join(request.cwd, "\uFFFD"), "a name like any other");
  expect(await endSnapshot(request)).toMatchObject({
    files: [{ path: "\uFFFD" }],
    leftOut: ["caf\\351", "d\\351", "new\\351"].map((path) => ({ path, why: "odd_name" })),
  });
});
