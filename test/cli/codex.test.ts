import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Cli } from "../support/cli.js";
import { type CodexRollout, putCodexRollouts } from "../support/codex-home.js";
import { rolloutLines } from "../support/rollout-lines.js";

const continueLine = '  Continue chatting: cody chat "your message"\n';

/** A Codex home with a rollout written by one of its versions. */
async function withCodex(scenario: string): Promise<{ cli: Cli; codex: string; rollout: CodexRollout }> {
  const cli = await Cli.open();
  const codex = join(cli.project, ".codex");
  const [rollout] = await putCodexRollouts(codex, scenario);
  if (rollout === undefined) throw new Error(`no rollout in ${scenario}`);
  return { cli, codex, rollout };
}

async function userMessages(path: string): Promise<unknown[]> {
  const lines = await rolloutLines(path);
  return lines.flatMap(({ payload }) => (payload["type"] === "user_message" ? [payload["message"]] : []));
}

test("list --codex shows rollouts of every Codex version and does not change Codex's home", async () => {
  const { cli, codex, rollout } = await withCodex("v0.58.0/simple");
  const [legacy] = await putCodexRollouts(codex, "v0.147.0/simple");
  const [paginated] = await putCodexRollouts(codex, "v0.166.0/simple");
  const before = await readdir(codex, { recursive: true });
  const { stdout } = await cli.run(["list", "--codex", "--json"]);
  const listed = (JSON.parse(stdout) as CodexRollout[]).map(({ id, path }) => ({ id, path }));
  expect(listed.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([paginated, legacy, rollout]);
  const models = (JSON.parse(stdout) as { model: string }[]).map(({ model }) => model);
  expect(models.toSorted()).toEqual(["gpt-5.1-codex", "gpt-5.5", "gpt-5.5"]);
  expect((await cli.run(["--list", "--codex"])).stdout).toContain("Total: 3 conversation(s)");
  expect((await cli.run(["list", "--codex", "--limit", "1"])).stdout).toContain("Total: 3 conversation(s), showing 1");
  expect((await cli.run(["list"])).stdout).toContain("No saved conversations.");
  expect(await readdir(codex, { recursive: true })).toEqual(before);
});

test.each(["v0.58.0/simple", "v0.147.0/simple"])(
  "resume --codex and chat continue in Codex's own file: %s",
  async (scenario) => {
    const { cli, rollout } = await withCodex(scenario);
    const before = await readFile(rollout.path, "utf8");
    const { ino, mode } = await stat(rollout.path);
    const resumed = await cli.run(["resume", "--codex", rollout.id.slice("conv_".length)]);
    expect(resumed).toMatchObject({
      code: 0,
      stdout: `✓ Resumed conversation: ${rollout.id}\n  Provider: offline (offline)\n${continueLine}`,
    });
    expect(await cli.run(["chat", "my name is Alice"])).toMatchObject({
      code: 0,
      stdout: "Noted: your name is Alice.\n",
    });
    const after = await readFile(rollout.path, "utf8");
    expect(after.startsWith(before)).toBe(true);
    expect((await userMessages(rollout.path)).at(-1)).toBe("my name is Alice");
    expect((await rolloutLines(rollout.path)).filter(({ type }) => type === "session_meta")).toHaveLength(1);
    expect(await stat(rollout.path)).toMatchObject({ ino, mode });
    expect(await cli.ids()).toEqual([]);
  },
);

test("a rollout only Codex can write to is continued in a copy that Codex can read", async () => {
  const { cli, codex, rollout } = await withCodex("v0.166.0/simple");
  const before = await readFile(rollout.path, "utf8");
  const { code, stdout, stderr } = await cli.run(["resume", "--codex", rollout.id]);
  expect(code).toBe(0);
  const [, id = ""] = /^✓ Resumed conversation: (conv_\S+)\n/.exec(stdout) ?? [];
  expect(stdout).toBe(
    `✓ Resumed conversation: ${id}\n  Forked from: ${rollout.id}\n  Provider: offline (offline)\n${continueLine}`,
  );
  expect(stderr).toContain(`Only Codex can write to ${rollout.id}, so this conversation is a copy of it\n`);
  await cli.run(["chat", "and now?"]);
  expect(await readFile(rollout.path, "utf8")).toBe(before);
  const names = await readdir(join(codex, "sessions"), { recursive: true });
  const copy = names.find((name) => name.includes(id.slice("conv_".length))) ?? "";
  expect((await userMessages(join(codex, "sessions", copy))).at(-1)).toBe("and now?");
  const [first, ...rest] = await rolloutLines(join(codex, "sessions", copy));
  expect(first?.payload).toMatchObject({ forked_from_id: rollout.id.slice("conv_".length) });
  expect(Object.keys(first?.payload ?? {})).not.toContain("history_mode");
  expect(rest.some((line) => "ordinal" in line)).toBe(false);
});

test("a Codex id is found without --codex, and --fork does not change its file", async () => {
  const { cli, rollout } = await withCodex("v0.147.0/simple");
  const before = await readFile(rollout.path, "utf8");
  const { stdout } = await cli.run(["resume", rollout.id, "--fork", "--json"]);
  const [id = ""] = await cli.ids();
  expect(JSON.parse(stdout)).toEqual({ id, provider: "offline", model: "offline", forkedFrom: rollout.id });
  await cli.run(["chat", "hello"]);
  expect((await cli.said(id)).at(-1)).toBe("hello");
  expect(await readFile(rollout.path, "utf8")).toBe(before);
  expect((await cli.run(["resume", rollout.id])).stdout).toContain(`✓ Resumed conversation: ${rollout.id}\n`);
});

test("a rollout that Codex has open, or that cannot be locked, is refused with a hint to fork", async () => {
  const { cli, codex, rollout } = await withCodex("v0.147.0/simple");
  const locks = join(codex, "thread-writer-locks");
  await mkdir(locks);
  const script = 'exec 9<>"$1" && flock -n 9 && echo held && exec sleep 600';
  const lock = join(locks, `${rollout.id.slice("conv_".length)}.lock`);
  const holder = spawn("sh", ["-c", script, "sh", lock], { stdio: "pipe" });
  onTestFinished(() => void holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  const hint = `  To continue in a copy: cody resume ${rollout.id} --fork\n`;
  expect(await cli.run(["resume", "--codex", rollout.id])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `✗ Conversation '${rollout.id}' is in use by Codex\n${hint}`,
  });
  // Only node is on the path, so flock is missing.
  const path = join(cli.project, "bin");
  await mkdir(path);
  await symlink(process.execPath, join(path, "node"));
  expect(await cli.run(["resume", "--codex", rollout.id], { env: { PATH: path } })).toMatchObject({
    code: 1,
    stderr: `✗ Conversation '${rollout.id}' cannot be locked against Codex: flock(1) is not installed\n${hint}`,
  });
});

test("resume finds the newest conversation of the project in Codex's directory too", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "--layout", "codex", "hello"]);
  const { stdout } = await cli.run(["list", "--codex", "--project", "--json"]);
  const [{ id } = { id: "" }] = JSON.parse(stdout) as CodexRollout[];
  expect((await cli.run(["resume", "--codex", "--last"])).stdout).toContain(`✓ Resumed conversation: ${id}\n`);
  expect((await cli.run(["resume", "--last"])).stdout).toContain(`✓ Resumed conversation: ${id}\n`);
  expect(await cli.run(["resume", id, "--last"])).toMatchObject({ code: 2 });
});

test("a conversation can be named by the path of its file, with any file name", async () => {
  const { cli, rollout } = await withCodex("v0.58.0/simple");
  await copyFile(rollout.path, join(cli.project, "kept.jsonl"));
  const { code, stdout } = await cli.run(["resume", "./kept.jsonl", "--conversation-dir", "own"]);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`✓ Resumed conversation: ${rollout.id}\n`),
  });
  await cli.run(["chat", "hello", "--conversation-dir", "own"]);
  expect((await userMessages(join(cli.project, "kept.jsonl"))).at(-1)).toBe("hello");
  await writeFile(join(cli.project, "no id.jsonl"), "{}\n");
  expect(await cli.run(["resume", "no id.jsonl"])).toMatchObject({ code: 1 });
  expect(await cli.run(["resume", "missing.jsonl"])).toMatchObject({
    code: 1,
    stderr: "✗ Conversation 'missing.jsonl' not found\n  List available: cody list\n",
  });
});
