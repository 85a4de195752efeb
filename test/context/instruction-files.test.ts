import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findInstructions, maxInstructionBytes, readInstructions } from "../../src/context/instructions.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function read(root: string, ...below: string[]) {
  const folders = [root, ...below.map((name) => join(root, name))];
  return await readInstructions(await findInstructions(folders.map((folder) => ({ folder, root }))));
}

test("files are read from the root down, in each folder AGENTS.md before CLAUDE.md", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, "a/b"), { recursive: true });
  await writeFile(join(root, "AGENTS.md"), "root\n");
  await writeFile(join(root, "CLAUDE.md"), "claude\n");
  await writeFile(join(root, "a/b/AGENTS.md"), "\ufeffdeep\r\n");
  expect(await read(root, "a", "a/b")).toEqual({
    blocks: [
      { path: join(root, "AGENTS.md"), text: "root" },
      { path: join(root, "CLAUDE.md"), text: "claude" },
      { path: join(root, "a/b/AGENTS.md"), text: "deep" },
    ],
    notices: [],
  });
});

test("an override replaces AGENTS.md, and identical text is included once", async () => {
  const root = await temporaryFolder();
  await writeFile(join(root, "AGENTS.md"), "ours");
  await writeFile(join(root, "AGENTS.override.md"), "mine");
  await symlink("AGENTS.override.md", join(root, "CLAUDE.md"));
  expect(await read(root)).toEqual({ blocks: [{ path: join(root, "AGENTS.override.md"), text: "mine" }], notices: [] });
});

test("the files share a size limit, and the most general is truncated first", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, "a/b"), { recursive: true });
  await writeFile(join(root, "AGENTS.md"), "general");
  await writeFile(join(root, "a/AGENTS.md"), `12345678${"ä".repeat(1_000_000)}`);
  await writeFile(join(root, "a/b/AGENTS.md"), "deeper");
  await writeFile(join(root, "a/b/CLAUDE.md"), "x".repeat(maxInstructionBytes - 16));
  const { blocks, notices } = await read(root, "a", "a/b");
  expect(blocks.map(({ text }) => text.slice(-100))).toEqual([
    "12345678ä\n[The rest of this file was left out: it is too long.]",
    "deeper",
    "x".repeat(100),
  ]);
  const cut = (name: string) => `${join(root, name)} was truncated: instruction files can have 32768 bytes in total`;
  expect(notices).toEqual([cut("AGENTS.md"), cut("a/AGENTS.md")]);
});

test("in one folder AGENTS.md gets space before CLAUDE.md", async () => {
  const root = await temporaryFolder();
  await writeFile(join(root, "AGENTS.md"), "a".repeat(maxInstructionBytes));
  await writeFile(join(root, "CLAUDE.md"), "c");
  const { blocks, notices } = await read(root);
  expect(blocks.map(({ path }) => path)).toEqual([join(root, "AGENTS.md")]);
  expect(notices).toEqual([expect.stringContaining("CLAUDE.md was truncated")]);
});

test("a long text under two names is included once and counts once", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, "a"));
  await writeFile(join(root, "AGENTS.md"), "root");
  await writeFile(join(root, "a/AGENTS.md"), "x".repeat(30_000));
  await symlink("AGENTS.md", join(root, "a/CLAUDE.md"));
  const { blocks, notices } = await read(root, "a");
  expect(blocks).toEqual([
    { path: join(root, "AGENTS.md"), text: "root" },
    { path: join(root, "a/AGENTS.md"), text: "x".repeat(30_000) },
  ]);
  expect(notices).toEqual([]);
});

test("files that are not project text are skipped with a notice, and the rest is included", async () => {
  const root = await temporaryFolder();
  const outside = await temporaryFolder();
  await writeFile(join(outside, "secret"), "a secret of the user");
  await mkdir(join(root, "AGENTS.md"));
  execFileSync("mkfifo", [join(root, "CLAUDE.md")]);
  for (const name of ["a", "b", "c", "d", "e"]) await mkdir(join(root, name));
  await symlink(join(outside, "secret"), join(root, "a/AGENTS.md"));
  await writeFile(join(root, "b/AGENTS.md"), Buffer.from([1, 2, 0, 3]));
  await symlink("/dev/zero", join(root, "c/AGENTS.md"));
  await symlink("nowhere", join(root, "d/AGENTS.md"));
  await writeFile(join(root, "e/AGENTS.md"), "still here");
  const { blocks, notices } = await read(root, "a", "b", "c", "d", "e");
  expect(blocks).toEqual([{ path: join(root, "e/AGENTS.md"), text: "still here" }]);
  expect(notices).toEqual([
    // Not the folder AGENTS.md: the sandbox makes such folders while a command runs.
    `${join(root, "CLAUDE.md")} is ignored: it is not a regular file`,
    `${join(root, "a/AGENTS.md")} is ignored: it is a link to a path outside the project`,
    `${join(root, "b/AGENTS.md")} is ignored: it is not a text file`,
    `${join(root, "c/AGENTS.md")} is ignored: it is not a regular file`,
  ]);
});

test("a file in the user's home may be a symlink to anywhere", async () => {
  const [home, elsewhere] = [await temporaryFolder(), await temporaryFolder()];
  await writeFile(join(elsewhere, "mine.md"), "from my dotfiles");
  await symlink(join(elsewhere, "mine.md"), join(home, "AGENTS.md"));
  const { blocks } = await readInstructions(await findInstructions([{ folder: home }]));
  expect(blocks).toEqual([{ path: join(home, "AGENTS.md"), text: "from my dotfiles" }]);
});

test("invisible characters are removed or made visible", async () => {
  const root = await temporaryFolder();
  await writeFile(join(root, "AGENTS.md"), "Be\u{e0068}\u{e0069} kind\u200b.\u0007\n\nRun\ttests.");
  expect((await read(root)).blocks[0]?.text).toBe("Be kind.␇\n\nRun\ttests.");
});

test("a stamp changes exactly when the file changes", async () => {
  const root = await temporaryFolder();
  const places = [{ folder: root, root }];
  expect(await findInstructions(places)).toEqual([]);
  await writeFile(join(root, "AGENTS.md"), "one");
  const first = await findInstructions(places);
  expect(await findInstructions(places)).toEqual(first);
  await writeFile(join(root, "AGENTS.md"), "three");
  expect(await findInstructions(places)).not.toEqual(first);
});
