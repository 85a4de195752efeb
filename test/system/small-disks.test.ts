import { execFile, spawn } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { withFileLock } from "../../src/config/file-lock.js";
import { Cli, commandOf, finished } from "../support/cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { keys, TerminalSession } from "../terminal/support/session.js";

const run = promisify(execFile);
const notSaved = "Failed to save turn: ";

/** Mounts something at a folder until the test ends. Fails without root. */
async function mount(target: string, ...args: readonly string[]): Promise<void> {
  await mkdir(target, { recursive: true });
  await run("mount", [...args, target]);
  onTestFinished(async () => {
    await run("umount", ["--lazy", target]);
  });
}

/** A command line whose home is on its own disk. */
async function homeOn(options: string): Promise<Cli> {
  const cli = await Cli.open({ spawned: true });
  await mount(cli.home, "-t", "tmpfs", "-o", `mode=0700,${options}`, "cody-test");
  return cli;
}

test("on a full disk chat continues with a warning, and saves again once there is space", async () => {
  const cli = await homeOn("size=64k");
  expect((await cli.run(["chat", "one"])).code).toBe(0);
  const filler = join(cli.home, "filler");
  await writeFile(filler, Buffer.alloc(1024 * 1024)).catch(() => undefined);
  const long = `two ${"and more ".repeat(2_000)}`;
  const full = await cli.run(["chat", long]);
  expect(full).toMatchObject({ code: 0, signal: null });
  expect(full.stdout).toContain("I heard: two");
  expect(full.stderr).toContain(`${notSaved}disk full`);
  const config = await cli.run(["set-provider", "offline"]);
  const complaint = `✗ Cannot change ${join(cli.home, "config.json")}: disk full\n  Free some space and try again\n`;
  expect(config).toMatchObject({ code: 1, stdout: "", stderr: complaint });
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["one"]);
  await rm(filler);
  const again = await cli.run(["chat", "three"]);
  expect(again.code).toBe(0);
  expect(again.stderr).not.toContain(notSaved);
  expect(await cli.said(id)).toEqual(["one", "three"]);
});

test("a lock that does not fit on a full disk leaves no file behind", async () => {
  const folder = await temporaryFolder();
  await mount(folder, "-t", "tmpfs", "-o", "size=16k", "cody-test");
  await writeFile(join(folder, "filler"), Buffer.alloc(1024 * 1024)).catch(() => undefined);
  await expect(withFileLock(join(folder, "lock"), () => Promise.resolve())).rejects.toMatchObject({ code: "ENOSPC" });
  expect(await readdir(folder)).toEqual(["filler"]);
});

test("without a free inode a new conversation is reported as not saved", async () => {
  const cli = await homeOn("nr_inodes=2");
  const { code, stdout, stderr } = await cli.run(["new"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^conv_\S+\n$/);
  expect(stderr).toContain("disk full");
  const chat = await cli.run(["chat", "hello"]);
  expect(chat.code).toBe(0);
  expect(chat.stderr).toContain(`${notSaved}disk full`);
  expect(await cli.ids()).toEqual([]);
});

test("in a read-only home conversations are listed, and chat reports that it is not saved", async () => {
  const cli = await Cli.open({ spawned: true });
  expect((await cli.run(["chat", "one"])).code).toBe(0);
  const [id = ""] = await cli.ids();
  await mount(cli.home, "--bind", cli.home);
  await run("mount", ["-o", "remount,bind,ro", cli.home]);
  const list = await cli.run(["list"]);
  expect(list.code).toBe(0);
  expect(list.stdout).toContain(id);
  const chat = await cli.run(["chat", "two"]);
  expect(chat.code).toBe(0);
  expect(chat.stdout).toContain("I heard: two");
  expect(chat.stderr).toContain(`${notSaved}read-only file system`);
  const config = await cli.run(["set-provider", "offline"]);
  expect(config.code).toBe(1);
  expect(config.stderr).toBe(
    [
      `✗ Cannot change ${join(cli.home, "config.json")}: read-only file system`,
      "  Use a folder that can be written: set CODY_HOME or pass --home\n",
    ].join("\n"),
  );
  expect(await cli.said(id)).toEqual(["one"]);
});

test("a file size limit kills no process and leaves nothing half saved", async () => {
  const cli = await Cli.open({ spawned: true });
  expect((await cli.run(["chat", "one"])).code).toBe(0);
  const [id = ""] = await cli.ids();
  const [program, ...args] = commandOf(["chat", `two ${"and more ".repeat(2_000)}`]);
  const limited = ["--fsize=8192:8192", program, ...args];
  const child = spawn("prlimit", limited, { cwd: cli.project, env: cli.env, stdio: "pipe" });
  child.stdin.end();
  const { code, signal, stdout, stderr } = await finished(child);
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(stdout).toContain("I heard: two");
  expect(stderr).toContain(`${notSaved}the file would be too large`);
  expect(await cli.said(id)).toEqual(["one"]);
  expect((await cli.run(["chat", "three"])).stderr).not.toContain(notSaved);
  expect(await cli.said(id)).toEqual(["one", "three"]);
});

test("in a read-only home the screen does not offer to continue what it could not save", async () => {
  const cli = await homeOn("ro");
  const session = await TerminalSession.open([], { cli });
  await session.enter("What is 6 * 7?");
  await session.shows(`${notSaved}read-only file system`);
  await session.prompts();
  session.type(keys.ctrlD);
  expect(await session.ends()).toBe(0);
  expect(session.text).not.toContain("To continue");
});
