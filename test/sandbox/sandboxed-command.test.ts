import { readdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../../src/messages/settings/config.js";
import { Sandboxes } from "../../src/sandbox/sandboxes.js";
import { runCommand } from "../../src/tools/exec/run-command.js";
import { shell } from "../../src/tools/shell.js";
import { pathWithSandbox } from "../support/fake-sandbox.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { toolContext } from "../tools/tool-context.js";

async function open(env: Readonly<Record<string, string>> = { PATH: pathWithSandbox }) {
  const [cwd, home] = [await realpath(await temporaryFolder()), await temporaryFolder()];
  const homes = { home, codexHome: undefined, claudeHome: undefined };
  const sandboxes = new Sandboxes({ homes, config: {}, env: { ...env, HOME: home } });
  onTestFinished(() => sandboxes.close());
  return { cwd, home, sandboxes };
}

async function openShell() {
  const { cwd, sandboxes } = await open();
  const { sandbox } = await sandboxes.open({ conversationId: "c", cwd, sandbox: "workspace-write" });
  const call = async (command: string) => {
    const context = await toolContext({ cwd, ...(sandbox && { commandSandbox: sandbox }) });
    const args = { command: ["sh", "-c", command] };
    return await shell.run(args, { ...context, command: { argv: args.command, cwd } });
  };
  return { cwd, call };
}

test("with full access, or in a folder of the system, there is no sandbox", async () => {
  const { cwd, sandboxes } = await open();
  const statusOf = async (folder: string, sandbox: "workspace-write" | "danger-full-access") =>
    await sandboxes.open({ conversationId: "c", cwd: folder, sandbox });
  expect(await statusOf(cwd, "danger-full-access")).toEqual({
    status: { works: false, reason: "the sandbox mode is danger-full-access" },
  });
  expect(await statusOf("/", "workspace-write")).toEqual({
    status: { works: false, reason: "the working folder is /" },
  });
  expect(await statusOf(join(cwd, "gone"), "workspace-write")).toMatchObject({ status: { works: false } });
});

test("in a folder with the sockets of other programs there is no sandbox that permits them", async () => {
  const home = await temporaryFolder();
  // Without these sources: a sandbox program inside the working folder is not used.
  const folder = import.meta.url.includes("/var/tmp/") ? "/tmp" : "/var/tmp";
  const statusOf = async (config: Config) => {
    const homes = { home, codexHome: undefined, claudeHome: undefined };
    const sandboxes = new Sandboxes({ homes, config, env: { PATH: pathWithSandbox, HOME: home } });
    return (await sandboxes.describe({ cwd: folder, sandbox: "workspace-write" })).status;
  };
  const reason = `sandbox.unixSockets is workspace, and ${folder} has the sockets of other programs`;
  expect(await statusOf({ sandbox: { unixSockets: "workspace" } })).toEqual({ works: false, reason });
  expect(await statusOf({})).toMatchObject({ works: true });
});

test("the exit code of a command in the sandbox is its own, and its placeholders are gone when it ends", async () => {
  const { cwd, call } = await openShell();
  const output = await call("ls -A; exit 7");
  expect(output).toMatchObject({ success: false, content: expect.stringContaining("Exit code: 7\n") });
  expect(output.content).toContain(".cody\n");
  expect(await readdir(cwd)).toEqual([]);
});

test("a denied command is told how to ask for more", async () => {
  const { call } = await openShell();
  const { content } = await call("echo \"touch: cannot touch '/etc/x': Read-only file system\"; exit 1");
  expect(content).toContain("Sandbox: read-only: /etc/x. Only ");
  expect(content).toContain("call shell with with_escalated_permissions and a justification\n");
  expect((await call("echo Read-only file system")).content).not.toContain("Sandbox:");
});

test("a command that is to end is asked first", async () => {
  const { cwd, sandboxes } = await open();
  const { sandbox } = await sandboxes.open({ conversationId: "c", cwd, sandbox: "workspace-write" });
  const controller = new AbortController();
  const longMs = 60_000;
  let output = "";
  const end = await runCommand(
    {
      argv: ["sh", "-c", "trap 'kill -KILL $! 2>/dev/null; echo cleaned; exit' TERM; sleep 60 & echo ready; wait"],
      cwd,
      env: { PATH: pathWithSandbox },
      timeoutMs: longMs,
      signal: controller.signal,
      sandbox,
      onOutput: (_, bytes) => {
        output += bytes.toString();
        controller.abort();
      },
    },
    { drainMs: longMs, timeoutGraceMs: longMs, interruptGraceMs: longMs, killMs: longMs, restMs: 100 },
  );
  expect(end).toMatchObject({ cause: "interrupted", leftRunning: [] });
  expect(output).toBe("ready\ncleaned\n");
  expect(await readdir(cwd)).toEqual([]);
});

test("a sandbox that cannot be created is reported as such", async () => {
  const { cwd, sandboxes } = await open();
  const { sandbox } = await sandboxes.open({ conversationId: "c", cwd, sandbox: "workspace-write" });
  if (sandbox === undefined) throw new Error("no sandbox");
  const broken = {
    ...sandbox,
    enter: async (command: Parameters<typeof sandbox.enter>[0]) => {
      const sandboxed = await sandbox.enter(command);
      return {
        ...sandboxed,
        argv: ["sh", "-c", "echo bwrap: broken >&2; exit 1"],
        [Symbol.asyncDispose]: () => sandboxed[Symbol.asyncDispose](),
      };
    },
  };
  const end = await runCommand({
    argv: ["true"],
    cwd,
    env: {},
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    sandbox: broken,
    onOutput: () => undefined,
  });
  expect(end?.sandbox?.wasCreated).toBe(false);
  expect(await readdir(cwd)).toEqual([]);
});

test("secret files in the workspace are hidden, those of packages are not", async () => {
  const { cwd, sandboxes } = await open();
  await Promise.all([".env", ".env.example", "key.pem", "code.ts"].map((name) => writeFile(join(cwd, name), "x")));
  const { sandbox } = await sandboxes.open({ conversationId: "c", cwd, sandbox: "workspace-write" });
  await using command = await sandbox?.enter({ argv: ["true"], cwd });
  const argv = command?.argv ?? [];
  const hidden = argv.flatMap((word, index) => (argv[index - 1]?.endsWith("/sandbox/empty") === true ? [word] : []));
  expect(hidden.filter((path) => path.startsWith(cwd))).toEqual([join(cwd, ".env"), join(cwd, "key.pem")]);
  // Otherwise it would be created again, empty.
  await rm(join(cwd, ".env"));
  await using later = await sandbox?.enter({ argv: ["true"], cwd });
  expect(later?.argv).not.toContain(join(cwd, ".env"));
  expect(later?.argv).toContain(join(cwd, "key.pem"));
});

test("a conversation's temporary folder stays the same until the conversations are closed", async () => {
  const { cwd, home, sandboxes } = await open();
  const folderOf = async (conversationId: string) => {
    const { sandbox } = await sandboxes.open({ conversationId, cwd, sandbox: "read-only" });
    await using command = await sandbox?.enter({ argv: ["true"], cwd });
    const argv = command?.argv ?? [];
    return argv[argv.indexOf("/tmp") - 1] ?? "";
  };
  const [one, other] = [await folderOf("one"), await folderOf("other")];
  expect(await folderOf("one")).toBe(one);
  expect(other).not.toBe(one);
  expect(await readdir(one)).toEqual([]);
  await sandboxes.close();
  await expect(readdir(one)).rejects.toThrow("ENOENT");
  expect(await readdir(join(home, "sandbox"))).toEqual(["empty", "unreadable"]);
});
