import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

const commit = "0123456789abcdef0123456789abcdef01234567";

/** A folder with a repository, which has a commit unless told otherwise. */
async function project(cli: Cli, name: string, has: "commit" | "nothing" = "commit"): Promise<string> {
  const root = join(cli.project, name);
  await mkdir(root, { recursive: true });
  if (has === "nothing") return root;
  await mkdir(join(root, ".git/objects", commit.slice(0, 2)), { recursive: true });
  await writeFile(join(root, ".git/HEAD"), commit);
  await writeFile(join(root, ".git/objects", commit.slice(0, 2), commit.slice(2)), "");
  return root;
}

async function listIds(cli: Cli, cwd: string): Promise<string[]> {
  const { stdout } = await cli.run(["list", "--project", "--json"], { cwd });
  return (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id);
}

test("conversations and the active one follow a moved repository", async () => {
  const cli = await Cli.open();
  const old = await project(cli, "old");
  const id = (await cli.run(["new"], { cwd: old })).stdout.trim();
  await cli.run(["chat", "my name is Ada"], { cwd: old });
  const clone = await project(cli, "clone");
  expect(await listIds(cli, clone)).toEqual([]);
  await rm(clone, { recursive: true });
  const moved = join(cli.project, "moved");
  await rename(old, moved);
  expect(await listIds(cli, moved)).toEqual([id]);
  expect((await cli.run(["relink"], { cwd: moved })).stdout).toBe(
    `Missing folders:\n  ${old}: 1 conversation(s), belongs to this project\nTo set a new folder: cody relink ${old} [new folder]\n`,
  );
  const result = await cli.run(["chat", "what is my name?"], { cwd: moved });
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("Ada") });
  expect(result.stderr).toContain(`This project was in ${old}: continuing its conversation ${id}`);
  expect((await cli.run(["chat", "once more"], { cwd: moved })).stderr).not.toContain("This project was in");
  expect(await cli.said(id)).toEqual(["my name is Ada", "what is my name?", "once more"]);
});

test("relink moves the conversations of a project without a repository", async () => {
  const cli = await Cli.open();
  const old = await project(cli, "old/inner", "nothing");
  const id = (await cli.run(["new"], { cwd: old })).stdout.trim();
  await rename(join(cli.project, "old"), join(cli.project, "new"));
  const now = join(cli.project, "new/inner");
  expect(await listIds(cli, now)).toEqual([]);
  expect(await cli.run(["relink", "../../old", "..", "--json"], { cwd: now })).toMatchObject({
    code: 0,
    stdout: `${JSON.stringify({ from: join(cli.project, "old"), to: join(cli.project, "new"), conversations: 1 })}\n`,
  });
  expect(await listIds(cli, now)).toEqual([id]);
  expect((await cli.run(["relink"], { cwd: now })).stdout).toBe("No folders are missing.\n");
  expect((await cli.run(["chat", "hello"], { cwd: now })).stderr).toContain(`continuing its conversation ${id}`);
  await rename(join(cli.project, "new"), join(cli.project, "newest"));
  const newest = join(cli.project, "newest/inner");
  expect(await cli.run(["relink", "../../new", ".."], { cwd: newest })).toMatchObject({ code: 0 });
  expect(await listIds(cli, newest)).toEqual([id]);
});

test("the active conversation of a folder stays active when a repository is created above it", async () => {
  const cli = await Cli.open();
  const inner = await project(cli, "whole/inner", "nothing");
  const beside = await project(cli, "beside", "nothing");
  const id = (await cli.run(["new"], { cwd: inner })).stdout.trim();
  await cli.run(["new"], { cwd: beside });
  const whole = await project(cli, "whole");
  expect((await cli.run(["chat", "hello"], { cwd: whole })).stderr).toContain(
    `This project was in ${inner}: continuing its conversation ${id}`,
  );
  expect(await listIds(cli, whole)).toEqual([id]);
});

test("relink rejects invalid moves and says why", async () => {
  const cli = await Cli.open();
  const [here, there] = [await project(cli, "here"), await project(cli, "there", "nothing")];
  await cli.run(["new"], { cwd: here });
  expect(await cli.run(["relink", here, there])).toMatchObject({
    code: 1,
    stderr: `✗ ${here} still exists, so its conversations cannot be relinked\n`,
  });
  expect(await cli.run(["relink", "nowhere", there])).toMatchObject({
    code: 1,
    stderr: `✗ No conversations found for ${join(cli.project, "nowhere")}\n  List missing folders: cody relink\n`,
  });
  await rm(here, { recursive: true });
  expect(await cli.run(["relink", here, "nowhere"])).toMatchObject({
    code: 1,
    stderr: `✗ ${join(cli.project, "nowhere")} is not a folder\n`,
  });
  expect(await cli.run(["relink", here, `${here}/inner`])).toMatchObject({ code: 2 });
  expect(await cli.run(["relink", here])).toMatchObject({ code: 0, stdout: expect.stringContaining(cli.project) });
});
