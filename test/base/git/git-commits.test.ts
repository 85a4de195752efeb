import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { hasCommit } from "../../../src/base/git/git-commits.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const commit = `ab${"0123456789".repeat(4)}`.slice(0, 40);
const other = "f".repeat(40);

async function put(path: string, content: string | Buffer = ""): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

/** The index of a pack with these objects, without the parts after their names. */
function packIndex(names: readonly string[], version = 2): Buffer {
  const bytes = names.toSorted().map((name) => Buffer.from(name, "hex"));
  const head = Buffer.alloc(8 + 256 * 4);
  head.writeUInt32BE(0xff744f63, 0);
  head.writeUInt32BE(version, 4);
  for (let first = 0; first < 256; first += 1) {
    head.writeUInt32BE(bytes.filter((name) => (name[0] ?? 0) <= first).length, 8 + first * 4);
  }
  return Buffer.concat([head, ...bytes]);
}

test("a loose commit is found, also from a worktree and through alternates", async () => {
  const folder = await temporaryFolder();
  const root = join(folder, "main");
  await put(join(root, ".git/objects", commit.slice(0, 2), commit.slice(2)));
  expect(await hasCommit(root, commit)).toBe(true);
  expect(await hasCommit(root, other)).toBe(false);
  await put(join(folder, "tree/.git"), `gitdir: ${join(root, ".git/worktrees/tree")}\n`);
  await put(join(root, ".git/worktrees/tree/commondir"), "../..\n");
  expect(await hasCommit(join(folder, "tree"), commit)).toBe(true);
  await put(join(folder, "clone/.git/objects/info/alternates"), `${join(root, ".git/objects")}\n`);
  expect(await hasCommit(join(folder, "clone"), commit)).toBe(true);
});

test.each([
  ["sha1", [commit, `ab${"1".repeat(38)}`, other, `00${"0".repeat(38)}`]],
  ["sha256", [commit.padEnd(64, "0"), "f".repeat(64)]],
])("a packed commit is found by its full hash: %s", async (_, names) => {
  const root = await temporaryFolder();
  await put(join(root, ".git/objects/pack/pack-1.idx"), packIndex(["12".repeat(20)]));
  await put(join(root, ".git/objects/pack/pack-2.idx"), packIndex(names));
  for (const name of names) expect(await hasCommit(root, name)).toBe(true);
  expect(await hasCommit(root, "ab".repeat(20))).toBe(false);
  expect(await hasCommit(root, "0e".repeat(20))).toBe(false);
});

test("bytes that straddle two hashes of a pack index are not a commit", async () => {
  const root = await temporaryFolder();
  const names = [`ab${"cd".repeat(19)}`, `ab${"ef".repeat(19)}`];
  await put(join(root, ".git/objects/pack/pack-1.idx"), packIndex(names));
  expect(await hasCommit(root, `${"cd".repeat(19)}ab`)).toBe(false);
  expect(await hasCommit(root, `ab${"cd".repeat(18)}ab`)).toBe(false);
});

test("a missing repository and damaged pack indexes have no commit", async () => {
  const root = await temporaryFolder();
  expect(await hasCommit(root, commit)).toBe(false);
  expect(await hasCommit(join(root, "missing"), commit)).toBe(false);
  await put(join(root, ".git/objects/pack/pack-1.idx"), "rubbish");
  await put(join(root, ".git/objects/pack/pack-2.idx"), packIndex([commit], 9));
  await put(join(root, ".git/objects/pack/pack-3.idx"), packIndex([commit]).subarray(0, 1032 + 10));
  expect(await hasCommit(root, commit)).toBe(false);
});
