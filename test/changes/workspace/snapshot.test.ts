import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ChangeFolder } from "../../../src/changes/workspace/change-folder.js";
import { defaultLimits } from "../../../src/changes/workspace/walk.js";
import { endSnapshot, takeSnapshot } from "../../../src/changes/workspace/snapshot.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A workspace with a file that has not changed for long. */
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

test("changes of a turn that ended with a crash are recorded before the next turn begins", async () => {
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

test("a turn resumed after a crash keeps the content before its first change", async () => {
  const request = await workspace();
  await takeSnapshot(request);
  await writeFile(join(request.cwd, "a"), "2\n");
  expect(await takeSnapshot(request)).toEqual({ status: "taken" });
  const changes = await endSnapshot(request);
  const before = changes?.files[0]?.before?.sha256 ?? "";
  expect(await readFile(join(request.folder, before), "utf8")).toBe("1\n");
});

test("an unchanged file is not read again, and a changed one is, even with the same size and time", async () => {
  const request = await workspace();
  await takeSnapshot(request);
  expect(await endSnapshot(request)).toBeUndefined();
  // The unchanged file is not read for the second turn.
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
])("a workspace with too many %s is not tracked, with the reason", async (_what, limits, reason) => {
  const request = await workspace();
  await writeFile(join(request.cwd, "b"), "2\n");
  const outcome = await takeSnapshot({ ...request, limits: { ...defaultLimits, ...limits } });
  expect(outcome).toEqual({ status: "untracked", reason: expect.stringMatching(reason) });
  expect(await endSnapshot(request)).toBeUndefined();
});

test("a change of an oversized file is reported without its content", async () => {
  const request = { ...(await workspace()), limits: { ...defaultLimits, maxFileBytes: 3 } };
  await writeFile(join(request.cwd, "large"), "12345");
  await takeSnapshot(request);
  await writeFile(join(request.cwd, "large"), "54321");
  expect(await endSnapshot(request)).toMatchObject({ files: [], leftOut: [{ path: "large", why: "too_large" }] });
});

test("a conversation over its size limit stores no more contents, but still reports changes", async () => {
  const request = { ...(await workspace()), maxBytes: 10 };
  await takeSnapshot(request);
  await writeFile(join(request.cwd, "a"), "2\n");
  const changes = await endSnapshot(request);
  expect(changes).toMatchObject({ files: [{ path: "a" }], notKept: expect.stringContaining("0.00001 MB") });
  expect(await readdir(request.folder)).toEqual([]);
});

test("unused contents are removed from the store after a day", async () => {
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
  // What remains: the index, the file's content and the newest trees.
  expect((await storedNames(request.home)).length).toBeLessThan(before);
});

test("folders inside cody's home are not a workspace", async () => {
  const request = await workspace();
  await mkdir(join(request.home, "inner"));
  expect(await takeSnapshot({ ...request, cwd: join(request.home, "inner") })).toEqual({ status: "outside" });
});

test("a change of a file with secrets in its name or content is reported, and the content is not stored", async () => {
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

test("a changed .gitignore does not make files count as created or deleted", async () => {
  const request = await workspace();
  const { cwd } = request;
  await writeFile(join(cwd, ".gitignore"), "data\n");
  await writeFile(join(cwd, "data"), "the user's own");
  await takeSnapshot(request);
  await writeFile(join(cwd, ".gitignore"), "a\n");
  expect((await endSnapshot(request))?.files.map(({ path }) => path)).toEqual([".gitignore"]);
});

test("a changed .git/info/exclude does not make files count as created or deleted", async () => {
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

test("in a folder filled with too many files, changes of the earlier files are reported", async () => {
  const limits = { maxFiles: 2, maxEntries: 100, maxBytes: 1e6, maxFileBytes: 1e6 };
  const request = { ...(await workspace()), limits };
  await takeSnapshot(request);
  await Promise.all(["a", "b", "c", "d"].map((name) => writeFile(join(request.cwd, name), "new")));
  expect(await endSnapshot(request)).toMatchObject({
    files: [{ path: "a" }],
    incomplete: expect.stringContaining("more than 2 files") as string,
  });
});

test("a change of a file whose name is not UTF-8 is reported, in any folder", async () => {
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
