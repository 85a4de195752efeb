import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

async function rolloutsBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith(".jsonl"));
}

test("--layout codex files conversations where Codex looks, and chat goes on with them there", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new", "--layout", "codex"])).stdout.trim();
  await cli.run(["chat", "--layout", "codex", "my name is Alice"]);
  expect(await cli.run(["chat", "--layout", "codex", "What's my name?"])).toMatchObject({
    code: 0,
    stdout: "You told me: your name is Alice.\n",
  });
  const sessions = join(cli.project, ".codex", "sessions");
  const [file = "", ...others] = await rolloutsBelow(sessions);
  expect(file).toMatch(/^\d{4}\/\d\d\/\d\d\/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f-]{36}\.jsonl$/);
  expect(file).toContain(id.slice("conv_".length));
  expect(others).toEqual([]);
  const listed = await cli.run(["list", "--layout", "codex", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ id, path: join(sessions, file), empty: false }]);
  // Nothing of ours stays behind there, and what is Codex's is not in the list of cody.
  expect((await readdir(sessions, { recursive: true })).filter((name) => name.includes("heads"))).toEqual([]);
  expect((await cli.run(["list"])).stdout).toContain("No saved conversations.");
});

test("the layout can be configured, and CODEX_HOME says where Codex is", async () => {
  const cli = await Cli.open();
  const codex = join(cli.project, "elsewhere");
  expect(await cli.run(["config", "set", "persistence.layout", "codex"])).toMatchObject({ code: 0 });
  const { stdout } = await cli.run(["config"], { env: { CODEX_HOME: codex } });
  expect(stdout).toContain("persistence.layout = codex  (config.json)\n");
  expect(stdout).toContain(`persistence.directory = ${join(codex, "sessions")}  (default)\n`);
  await cli.run(["chat", "hello"], { env: { CODEX_HOME: codex } });
  expect(await rolloutsBelow(codex)).toHaveLength(1);
  expect(await cli.ids()).toEqual([]);
});

test("--layout project files by project, and list finds every layout of the home", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "--layout", "project", "hello"]);
  await cli.run(["chat", "--layout", "cody", "hello", "--resume"]);
  const folder = cli.project.slice(1).replaceAll("/", "_");
  expect(await rolloutsBelow(cli.conversations)).toEqual([expect.stringMatching(new RegExp(`^${folder}/[0-9a-f-]+`))]);
  await cli.run(["new"]);
  expect(JSON.parse((await cli.run(["list", "--json"])).stdout)).toHaveLength(2);
});

test("a layout that does not exist is named with those that do", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["new", "--layout", "flat"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--layout: must be one of "cody", "codex", "project"'),
  });
});
