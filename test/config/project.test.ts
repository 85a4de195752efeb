import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findProjectRoot, readGitInfo, findProjectRoots, ProjectFinder } from "../../src/config/project/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const hash = "0123456789abcdef0123456789abcdef01234567";
const otherHash = "f".repeat(40);

/** A folder with these files; a name ending in / is an empty folder. */
async function folderWith(files: Record<string, string>): Promise<string> {
  const root = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(root, name.endsWith("/") ? name : dirname(name)), { recursive: true });
    if (!name.endsWith("/")) await writeFile(join(root, name), text);
  }
  return root;
}

test.each([{ ".git/HEAD": "" }, { ".git": "gitdir: elsewhere" }])(
  "the nearest folder with %j is the root",
  async (git) => {
    const root = await folderWith({ "a/b/": "", ...git });
    expect(await findProjectRoot(join(root, "a/b"))).toBe(root);
    expect(await findProjectRoot(root)).toBe(root);
  },
);

test("without git a folder is its own root", async () => {
  const root = await folderWith({ "a/b/": "" });
  expect(await findProjectRoot(join(root, "a/b"))).toBe(join(root, "a/b"));
  expect(await findProjectRoot(join(root, "missing"))).toBe(join(root, "missing"));
});

test("the empty folder that keeps commands from creating a repository is none", async () => {
  const root = await folderWith({ ".git/HEAD": "", "a/b/": "" });
  await mkdir(join(root, "a/.git"), { mode: 0o555 });
  expect(await findProjectRoot(join(root, "a/b"))).toBe(root);
  await mkdir(join(root, "a/b/.git"));
  expect(await findProjectRoot(join(root, "a/b"))).toBe(join(root, "a/b"));
});

test("a symlinked folder has two roots: as written, and resolved", async () => {
  const repository = await realpath(await folderWith({ ".git/HEAD": "", "a/b/": "" }));
  const other = await realpath(await folderWith({ ".git/HEAD": "" }));
  await symlink(join(repository, "a"), join(other, "link"));
  const roots = { root: repository, realRoot: repository };
  expect(await findProjectRoots(join(repository, "a/b"))).toEqual(roots);
  expect(await findProjectRoots(join(other, "link/b"))).toEqual({ root: other, realRoot: repository });
  expect(await findProjectRoots(join(repository, "missing"))).toEqual(roots);
});

test("concurrent searches for the same folder share one result, and later ones search again", async () => {
  const folder = await folderWith({ "a/": "" });
  const finder = new ProjectFinder();
  const search = finder.find(join(folder, "a"));
  expect(finder.find(join(folder, "a"))).toBe(search);
  expect((await search).root).toBe(join(folder, "a"));
  await mkdir(join(folder, ".git"));
  expect((await finder.find(join(folder, "a"))).root).toBe(folder);
});

test("branch, commit and the URL of origin are read", async () => {
  const root = await folderWith({
    ".git/HEAD": "ref: refs/heads/feature/one\n",
    ".git/refs/heads/feature/one": `${hash}\n`,
    ".git/packed-refs": `${otherHash} refs/heads/feature/one\n`,
    ".git/config": `[core]\n\turl = wrong\n[remote "origin"]\n\turl = https://github.com/a/b.git\n`,
  });
  expect(await readGitInfo(root)).toEqual({
    commit_hash: hash,
    branch: "feature/one",
    repository_url: "https://github.com/a/b.git",
  });
});

test("a packed branch is found in packed-refs", async () => {
  const root = await folderWith({
    ".git/HEAD": "ref: refs/heads/main",
    ".git/packed-refs": `# pack-refs with: peeled\n${otherHash} refs/heads/other-main\n${hash} refs/heads/main\n^${otherHash}\n`,
  });
  expect(await readGitInfo(root)).toEqual({ commit_hash: hash, branch: "main" });
});

test("a detached HEAD is a commit without a branch, a new repository a branch without a commit", async () => {
  expect(await readGitInfo(await folderWith({ ".git/HEAD": `${hash}\n` }))).toEqual({ commit_hash: hash });
  expect(await readGitInfo(await folderWith({ ".git/HEAD": "ref: refs/heads/main\n" }))).toEqual({ branch: "main" });
});

test("a worktree has its own HEAD and the refs and configuration of its repository", async () => {
  const root = await folderWith({
    "tree/.git": "gitdir: ../main/.git/worktrees/tree\n",
    "main/.git/worktrees/tree/HEAD": "ref: refs/heads/topic\n",
    "main/.git/worktrees/tree/commondir": "../..\n",
    "main/.git/refs/heads/topic": hash,
    "main/.git/config": '[remote "origin"]\nurl = git@github.com:a/b.git\n',
  });
  expect(await readGitInfo(join(root, "tree"))).toEqual({
    commit_hash: hash,
    branch: "topic",
    repository_url: "git@github.com:a/b.git",
  });
});

test.each([
  ["https://alice:secret@github.com/a/b", "https://github.com/a/b"],
  ["https://token@github.com/a/b", "https://github.com/a/b"],
  ["https://alice:p@ss@github.com/a/b@c", "https://github.com/a/b@c"],
  ["ssh://git@github.com/a/b", "ssh://github.com/a/b"],
  ["https://github.com", "https://github.com"],
])("of the URL %s only %s is kept", async (url, kept) => {
  const root = await folderWith({ ".git/HEAD": hash, ".git/config": `[remote "origin"]\nurl = ${url}\n` });
  expect(await readGitInfo(root)).toEqual({ commit_hash: hash, repository_url: kept });
});

test.each([{}, { ".git": "nonsense" }, { ".git/": "" }, { ".git": "gitdir: /nowhere/at/all" }, { ".git/HEAD/": "" }])(
  "a damaged repository %j is ignored",
  async (files) => {
    expect(await readGitInfo(await folderWith(files))).toBeUndefined();
  },
);

test("a HEAD that points out of the repository is not followed", async () => {
  const root = await folderWith({ ".git/HEAD": "ref: refs/heads/../../../secret", secret: hash });
  expect(await readGitInfo(root)).toEqual({ branch: "../../../secret" });
});
