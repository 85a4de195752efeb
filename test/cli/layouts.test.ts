import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { putCodexRollouts } from "../support/codex-home.js";

interface Listed {
  readonly id: string;
  readonly empty: boolean;
  readonly nextCursor?: string;
}

async function listConversations(cli: Cli, ...flags: readonly string[]): Promise<Listed[]> {
  return JSON.parse((await cli.run(["list", "--json", ...flags])).stdout) as Listed[];
}

async function rolloutsBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith(".jsonl"));
}

test("--layout codex stores conversations where Codex looks, and chat continues them there", async () => {
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
  expect(await listConversations(cli, "--layout", "codex")).toMatchObject([
    { id, path: join(sessions, file), empty: false },
  ]);
  // No file of cody's own is left there.
  expect((await readdir(sessions, { recursive: true })).filter((name) => name.includes("heads"))).toEqual([]);
});

test("a conversation in layout codex stays active, and is listed, searched, named and continued, without the flag", async () => {
  const cli = await Cli.open();
  await putCodexRollouts(join(cli.project, ".codex"), "v0.147.0/simple");
  await cli.run(["chat", "--layout", "codex", "my name is Alice"]);
  expect(await cli.run(["chat", "What's my name?"])).toMatchObject({
    code: 0,
    stdout: "You told me: your name is Alice.\n",
  });
  expect(await cli.ids()).toEqual([]);
  const [{ id } = { id: "" }, ...others] = await listConversations(cli);
  expect(others).toEqual([]);
  expect(await listConversations(cli, "--project")).toMatchObject([{ id }]);
  expect(await listConversations(cli, "--sort", "created")).toMatchObject([{ id }]);
  expect((await cli.run(["search", "Alice"])).stdout).toContain(id);
  expect((await cli.run(["stats"])).stdout).toContain("Conversations: 1");
  await cli.run(["rename", id, "Letters"]);
  expect(await listConversations(cli)).toMatchObject([{ id, name: "Letters" }]);
  expect((await cli.run(["resume", "--last"])).stdout).toContain(`✓ Resumed conversation: ${id}\n`);
  expect((await cli.run(["export", "--all", "--json"])).stdout).toContain(id);
});

test("list and --continue use the newest conversation of all layouts, in order and in pages", async () => {
  const cli = await Cli.open();
  const ids: string[] = [];
  for (const layout of ["cody", "codex", "project", "codex"]) {
    ids.unshift((await cli.run(["new", "--layout", layout])).stdout.trim());
    await cli.run(["chat", "hello"]);
  }
  expect((await listConversations(cli)).map(({ id }) => id)).toEqual(ids);
  const [first, second, third] = await listConversations(cli, "--limit", "3");
  expect([first, second, third].map((each) => each?.id)).toEqual(ids.slice(0, 3));
  const cursor = third?.nextCursor ?? "";
  expect((await listConversations(cli, "--limit", "3", "--cursor", cursor)).map(({ id }) => id)).toEqual(ids.slice(3));
  expect((await listConversations(cli, "--layout", "codex")).map(({ id }) => id)).toEqual(ids);
  expect((await listConversations(cli, "--codex")).map(({ id }) => id)).toEqual([ids[0], ids[2]]);
  await cli.run(["chat", "--resume", ids[1] ?? "", "again"]);
  await cli.run(["new"]);
  await cli.run(["chat", "--continue", "and again"]);
  expect((await listConversations(cli)).find(({ empty }) => !empty)?.id).toBe(ids[1]);
});

test("list hides rollouts Codex wrote, and clean skips Codex's directory", async () => {
  const cli = await Cli.open();
  const codex = join(cli.project, ".codex");
  await cli.run(["chat", "--layout", "codex", "hello"]);
  await putCodexRollouts(codex, "v0.147.0/simple");
  expect(await listConversations(cli)).toHaveLength(1);
  expect((await cli.run(["clean", "--all"])).stdout).toContain("No conversations to clean up.");
  expect(await listConversations(cli)).toHaveLength(1);
  const file = (await rolloutsBelow(codex)).find((name) => !name.includes("2026-11-16T"));
  await rm(join(codex, file ?? ""));
  expect((await cli.run(["list"])).stdout).toContain("No saved conversations.");
});

test("storage.layout is an alias of the setting", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { recursive: true });
  await writeFile(join(cli.home, "config.json"), '{"storage":{"layout":"codex"}}');
  await cli.run(["chat", "hello"]);
  expect(await rolloutsBelow(join(cli.project, ".codex"))).toHaveLength(1);
  expect((await cli.run(["config", "get", "storage.layout"])).stdout).toBe("codex\n");
  expect(await cli.run(["config", "set", "storage.layout", "project"])).toMatchObject({ code: 0 });
  expect((await cli.run(["config"])).stdout).toContain("persistence.layout = project  (config.json)\n");
  expect(await listConversations(cli)).toHaveLength(1);
  expect(await cli.run(["config", "set", "storage.layout", "flat"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('must be one of "cody", "codex", "project"'),
  });
});

test("the layout can be configured, and CODEX_HOME sets Codex's home", async () => {
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

test("--layout project stores by project, and list finds every layout of the home", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "--layout", "project", "hello"]);
  await cli.run(["chat", "--layout", "cody", "hello", "--resume"]);
  const folder = cli.project.slice(1).replaceAll("/", "_");
  expect(await rolloutsBelow(cli.conversations)).toEqual([expect.stringMatching(new RegExp(`^${folder}/[0-9a-f-]+`))]);
  await cli.run(["new"]);
  expect(JSON.parse((await cli.run(["list", "--json"])).stdout)).toHaveLength(2);
});

test("an unknown layout is rejected with the list of layouts", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["new", "--layout", "flat"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--layout: must be one of "cody", "codex", "project"'),
  });
});
