import { spawn, type StdioOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { withGuard } from "../../../src/tools/exec/command-process.js";
import type { Watch } from "../../support/watch.js";
import { expectGone, isRunning, numbersIn, textOf } from "../processes.js";
import { toolProcess } from "../tool-process.js";

/** A command with a child, a grandchild that ignores being asked to end, and one that left the group. */
const family = [
  "sleep 60 & echo $!",
  "(trap '' HUP INT TERM; sleep 60 & echo $!; wait) & echo $!",
  "setsid sh -c 'echo $$; exec sleep 60' &",
  "echo $$; wait",
].join("\n");

async function familyPids(printed: Watch<string>): Promise<number[]> {
  return numbersIn(await printed.until((text) => text.split("\n").length > 5));
}

/** Somebody who may not read everything in /proc, where we may. */
const anotherUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describe.each(["dash", "bash"])("in %s", (sh) => {
  test("everything ends when the other end of the descriptor does", async () => {
    const { args } = withGuard(["sh", "-c", family], randomUUID());
    const stdio: StdioOptions = ["ignore", "pipe", "inherit", "pipe"];
    const command = spawn(sh, args, { detached: true, cwd: "/", stdio, ...anotherUser });
    onTestFinished(() => void command.kill("SIGKILL"));
    const pids = await familyPids(textOf(command.stdout));
    expect(pids.filter(isRunning)).toEqual(pids);
    command.stdio[3]?.destroy();
    await expectGone(...pids);
  });

  test("exit code and arguments are the command's own", async () => {
    const { args } = withGuard(["sh", "-c", 'printf "%s." "$@"; exit 7', "sh", "a b", "", "$x"], randomUUID());
    const command = spawn(sh, args, { detached: true, stdio: ["ignore", "pipe", "inherit", "pipe"] });
    const printed = textOf(command.stdout);
    const [code] = (await once(command, "exit")) as [number];
    command.stdio[3]?.destroy();
    expect(code).toBe(7);
    expect(await printed.until((text) => text.length >= 8)).toBe("a b..$x.");
  });
});

test("everything ends when the process that called the tool is killed", async () => {
  const caller = await toolProcess({ tool: "shell", args: { command: family } });
  const pids = await familyPids(caller.printed);
  expect(pids.filter(isRunning)).toEqual(pids);
  caller.process.kill("SIGKILL");
  await expectGone(...pids);
});
