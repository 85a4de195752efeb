import { spawn } from "node:child_process";
import { mkdir, realpath, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, commandOf, finished } from "../support/cli.js";

test("from a folder that was removed a person is told to change to another one", async () => {
  const cli = await Cli.open();
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  const command = ["-c", script, "sh", ...commandOf(["chat", "hi"])];
  const child = spawn("sh", command, { cwd: cli.project, env: cli.env, stdio: "pipe" });
  child.stdin.end();
  expect(await finished(child)).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr: "✗ The current folder does not exist any more\n  Change to another one, as with: cd ~\n",
  });
  expect(await cli.ids()).toEqual([]);
});

test.each(["", "relative", "./home"])("HOME %j is no place to keep things: the user's own folder is", async (home) => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(["config", "path"], { env: { HOME: home, CODY_HOME: "" } });
  expect(stdout).toBe(`${join(userInfo().homedir, ".cody/config.json")}\n`);
});

test("a conversation goes on in the folder it was recorded in, and in the present one when that is gone", async () => {
  const cli = await Cli.open();
  const old = join(cli.project, "old");
  const present = join(cli.project, "present");
  await Promise.all([old, present].map((folder) => mkdir(folder)));
  const id = (await cli.run(["new"], { cwd: old })).stdout.trim();
  await cli.run(["chat", "--resume", id, "one"], { cwd: present });
  await rm(old, { recursive: true });
  await cli.run(["chat", "--resume", id, "two"], { cwd: present });
  expect(await foldersOf(cli, id)).toEqual([old, await realpath(present)]);
});

/** Where its turns were played. */
async function foldersOf(cli: Cli, id: string): Promise<unknown[]> {
  const lines = await cli.lines(id);
  return lines.flatMap(({ type, payload }) => (type === "turn_context" && "cwd" in payload ? [payload.cwd] : []));
}
