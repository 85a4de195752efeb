import { spawn } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, commandOf, finished } from "../support/cli.js";

test("running in a removed folder reports an error that says to change to another one", async () => {
  const cli = await Cli.open();
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  const command = ["-c", script, "sh", ...commandOf(["chat", "hi"])];
  const child = spawn("sh", command, { cwd: cli.project, env: cli.env, stdio: "pipe" });
  child.stdin.end();
  expect(await finished(child)).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr: "✗ The current folder no longer exists\n  Change to an existing folder, for example: cd ~\n",
  });
  expect(await cli.ids()).toEqual([]);
});

test.each(["", "relative", "./home"])("with HOME %j cody uses the user's home folder", async (home) => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(["config", "path"], { env: { HOME: home, CODY_HOME: "" } });
  expect(stdout).toBe(`${join(userInfo().homedir, ".cody/config.json")}\n`);
});

test("a conversation continues in the current folder; with --recorded-cwd in its recorded one", async () => {
  const cli = await Cli.open();
  const [old, present] = [join(cli.project, "old"), join(cli.project, "present")];
  await Promise.all([old, present].map((folder) => mkdir(folder)));
  const id = (await cli.run(["new"], { cwd: old })).stdout.trim();
  const run = async (args: string[]) => await cli.run(args, { cwd: present });
  const back = await run(["chat", "--resume", id, "--recorded-cwd", "one"]);
  expect(back.stderr).toContain(`continues in its recorded folder ${old}, not in ${present}`);
  expect((await run(["resume", id])).stderr).toContain(`was in ${old}. It continues in ${present}`);
  const here = await run(["chat", "--resume", id, "two"]);
  expect(here.stderr).toContain(`was in ${old}. It continues in ${present}`);
  expect((await run(["chat", "--resume", id, "three"])).stderr).not.toContain("continues in");
  expect(await foldersOf(cli, id)).toEqual([old, present, present]);
});

test.each([["resume", "--fork"], ["fork"]])("a copy made by %s %s works in the current folder", async (...command) => {
  const cli = await Cli.open();
  const [old, present] = [join(cli.project, "old"), join(cli.project, "present")];
  await Promise.all([old, present].map((folder) => mkdir(folder)));
  await cli.run(["chat", "one"], { cwd: old });
  const [id = ""] = await cli.ids();
  for (const [flags, folder] of [
    [[], present],
    [["--recorded-cwd"], old],
  ] as const) {
    const known = await cli.ids();
    await cli.run([...command, id, ...flags], { cwd: present });
    const copy = (await cli.ids()).find((each) => !known.includes(each)) ?? "";
    expect((await cli.lines(copy))[0]).toMatchObject({ type: "session_meta", payload: { cwd: folder } });
  }
});

test("a recorded folder that is gone is named, and --recorded-cwd says what to do", async () => {
  const cli = await Cli.open();
  const old = join(cli.project, "old");
  await mkdir(old);
  await cli.run(["chat", "one"], { cwd: old });
  await rm(old, { recursive: true });
  const [id = ""] = await cli.ids();
  expect(await cli.run(["resume", id, "--recorded-cwd"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`cannot be read: ${old}. To continue in your own folder, leave out --recorded-cwd`),
  });
  expect(await cli.run(["resume", id])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`cannot be read: ${old}. It continues in ${cli.project}.`),
  });
});

/** The working folders of its turns. */
async function foldersOf(cli: Cli, id: string): Promise<unknown[]> {
  const lines = await cli.lines(id);
  return lines.flatMap(({ type, payload }) => (type === "turn_context" && "cwd" in payload ? [payload.cwd] : []));
}
