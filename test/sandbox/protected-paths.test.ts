import { mkdir, readlink, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Placeholders } from "../../src/sandbox/placeholders.js";
import { findProtection, type Protection, restoreLinks } from "../../src/sandbox/protected-paths.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await temporaryFolder());
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** The protected paths of a workspace, relative to a folder. */
async function protection(workspace: string, folder = workspace) {
  const { mounts, absent, links } = await findProtection([workspace], "/nowhere");
  const named = (path: string): string => path.replace(`${folder}/`, "");
  const of = (wanted: string) => mounts.flatMap(({ kind, path }) => (kind === wanted ? [named(path)] : [])).toSorted();
  return {
    readOnly: of("read-only"),
    writable: of("writable"),
    absent: absent.map(({ path }) => named(path)).toSorted(),
    links: links.map(({ path }) => named(path)),
  };
}

const instructions = ["AGENTS.md", "AGENTS.override.md", "CLAUDE.md"];

test("in an empty folder nothing can be created that other programs obey", async () => {
  expect(await protection(await folderWith({}))).toEqual({
    readOnly: [],
    writable: [],
    absent: [".cody", ".git", ...instructions],
    links: [],
  });
});

test("a repository can be committed to, but its hooks and configurations are read-only", async () => {
  const workspace = await folderWith({
    ".git/config": "[core]",
    ".git/hooks/a": "",
    ".git/modules/m/config": "",
    ".git/worktrees/w/gitdir": "",
    ".cody/config.json": "{}",
    "AGENTS.md": "",
    ".vscode/tasks.json": "",
  });
  expect(await protection(workspace)).toEqual({
    readOnly: [".cody", ".git/config", ".git/hooks", ".git/modules", ".git/worktrees", ".vscode", "AGENTS.md"],
    writable: [".git"],
    absent: [".git/commondir", ".git/config.worktree", "AGENTS.override.md", "CLAUDE.md"],
    links: [],
  });
});

test("in a subfolder of a repository, no other repository can be created", async () => {
  const folder = await folderWith({ ".git/config": "[core]", "sub/a": "" });
  const { readOnly, writable, absent } = await protection(join(folder, "sub"), folder);
  expect({ readOnly, writable }).toEqual({ readOnly: [".git/config"], writable: [".git"] });
  expect(absent).toEqual([
    ".git/commondir",
    ".git/config.worktree",
    ".git/hooks",
    ...[".cody", ".git", ...instructions].map((name) => `sub/${name}`),
  ]);
});

async function worktree(back: string) {
  const folder = await folderWith({
    "main/.git/config": "",
    "main/.git/hooks/a": "",
    "main/.git/worktrees/w/commondir": "../..\n",
    "main/.git/worktrees/other/commondir": "../..\n",
  });
  await mkdir(join(folder, "tree"));
  await writeFile(join(folder, "tree", ".git"), `gitdir: ${folder}/main/.git/worktrees/w\n`);
  await writeFile(join(folder, "main/.git/worktrees/w/gitdir"), `${folder}/${back}\n`);
  return await protection(join(folder, "tree"), folder);
}

test("a worktree's main repository is protected in the same way", async () => {
  const { readOnly, writable, absent } = await worktree("tree/.git");
  expect(writable).toEqual(["main/.git", "main/.git/worktrees/w"]);
  expect(readOnly).toEqual([
    "main/.git/config",
    "main/.git/hooks",
    "main/.git/worktrees",
    "main/.git/worktrees/w/commondir",
    "main/.git/worktrees/w/gitdir",
    "tree/.git",
  ]);
  expect(absent).toContain("main/.git/commondir");
});

test("a folder that does not name the worktree in return stays read-only", async () => {
  expect(await worktree("elsewhere/.git")).toMatchObject({ readOnly: ["tree/.git"], writable: [] });
});

test("a repository whose hooks are a link is read-only as a whole", async () => {
  const workspace = await folderWith({ ".git/config": "", "scripts/pre-commit": "" });
  await symlink("../scripts", join(workspace, ".git/hooks"));
  expect(await protection(workspace)).toMatchObject({ readOnly: [".git"], writable: [] });
});

test("a link to instructions is restored, and the file it leads to is read-only", async () => {
  const workspace = await folderWith({ "docs/agents.md": "" });
  await symlink("docs/agents.md", join(workspace, "CLAUDE.md"));
  expect(await protection(workspace)).toMatchObject({ readOnly: ["docs/agents.md"], links: ["CLAUDE.md"] });
  const { links } = await findProtection([workspace], "/nowhere");
  await rm(join(workspace, "CLAUDE.md"));
  await mkdir(join(workspace, "CLAUDE.md", "x"), { recursive: true });
  await restoreLinks(links);
  expect(await readlink(join(workspace, "CLAUDE.md"))).toBe("docs/agents.md");
});

function writableMounts({ mounts }: Protection) {
  return mounts.filter(({ kind }) => kind === "writable");
}

test.each([
  ["in a repository", { "sub/.git/config": "", "sub/.git/HEAD": "ref: refs/heads/main\n" }],
  ["in a subfolder of a repository", { ".git/config": "", ".git/HEAD": "ref: refs/heads/main\n", "sub/a": "" }],
  ["without a repository", { "sub/a": "" }],
])("%s, the placeholders of another command are protected as if they were not there", async (_, files) => {
  const folder = await folderWith(files);
  const workspace = join(folder, "sub");
  const before = await findProtection([workspace], "/nowhere");
  await using held = await new Placeholders(await temporaryFolder()).create(before.absent);
  const during = await findProtection([workspace], "/nowhere");
  expect(during.absent).toEqual(before.absent);
  expect(writableMounts(during)).toEqual(writableMounts(before));
  expect(during.mounts.map(({ path }) => path)).toEqual(expect.arrayContaining([...held.paths]));
});

test("in other writable folders, only what exists is protected", async () => {
  const [workspace, other] = [await folderWith({}), await folderWith({ ".git/config": "", "CLAUDE.md": "" })];
  const { mounts, absent } = await findProtection([workspace, other], "/nowhere");
  expect(mounts.map(({ path }) => path).toSorted()).toEqual([join(other, ".git"), join(other, "CLAUDE.md")]);
  expect(absent.every(({ path }) => path.startsWith(workspace))).toBe(true);
});

test("in the home folder, what shells run at their start is protected too", async () => {
  const home = await folderWith({ ".bashrc": "", ".config/x": "" });
  const { mounts } = await findProtection([home], home);
  expect(mounts.map(({ path }) => path).toSorted()).toEqual([join(home, ".bashrc"), join(home, ".config")]);
});
