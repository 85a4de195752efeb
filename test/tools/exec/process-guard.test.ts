import { spawn, type StdioOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { withGuard } from "../../../src/tools/exec/command-process.js";
import type { Watch } from "../../support/watch.js";
import { expectGone, isRunning, numbersIn, textOf } from "../processes.js";
import { toolProcess } from "../tool-process.js";

/** A command with a child, a grandchild that ignores SIGTERM, and a process outside its process group. */
const processTree = [
  "sleep 60 & echo $!",
  "(trap '' HUP INT TERM; sleep 60 & echo $!; wait) & echo $!",
  "setsid sh -c 'echo $$; exec sleep 60' &",
  "echo $$; wait",
].join("\n");

async function processTreePids(printed: Watch<string>): Promise<number[]> {
  return numbersIn(await printed.until((text) => text.split("\n").length > 5));
}

/** A user who may not read all of /proc, when the tests run as root. */
const anotherUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describe.each(["dash", "bash"])("in %s", (sh) => {
  test("all processes end when the guard's descriptor is closed", async () => {
    const { args } = withGuard(["sh", "-c", processTree], randomUUID());
    const stdio: StdioOptions = ["ignore", "pipe", "inherit", "pipe"];
    const command = spawn(sh, args, { detached: true, cwd: "/", stdio, ...anotherUser });
    onTestFinished(() => void command.kill("SIGKILL"));
    const pids = await processTreePids(textOf(command.stdout));
    expect(pids.filter(isRunning)).toEqual(pids);
    command.stdio[3]?.destroy();
    await expectGone(...pids);
  });

  test("exit code and arguments of the command are passed through", async () => {
    const { args } = withGuard(["sh", "-c", 'printf "%s." "$@"; exit 7', "sh", "a b", "", "$x"], randomUUID());
    const command = spawn(sh, args, { detached: true, stdio: ["ignore", "pipe", "inherit", "pipe"] });
    const printed = textOf(command.stdout);
    const [code] = (await once(command, "exit")) as [number];
    command.stdio[3]?.destroy();
    expect(code).toBe(7);
    expect(await printed.until((text) => text.length >= 8)).toBe("a b..$x.");
  });
});

test("all processes end when the process that called the tool is killed", async () => {
  const caller = await toolProcess({ tool: "shell", args: { command: processTree } });
  const pids = await processTreePids(caller.printed);
  expect(pids.filter(isRunning)).toEqual(pids);
  caller.process.kill("SIGKILL");
  await expectGone(...pids);
});
