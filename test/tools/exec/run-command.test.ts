import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type CommandResult, runCommand } from "../../../src/tools/exec/run-command.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { Watch } from "../../support/watch.js";
import { expectGone, isRunning, isStopped, numbersIn } from "../processes.js";

/** Long enough that a test which waited for it would fail. */
const never = 60_000;
const patience = { drainMs: never, timeoutGraceMs: never, interruptGraceMs: never, killMs: never, restMs: 100 };
const soon = 50;

interface Running {
  readonly end: Promise<CommandResult>;
  readonly output: Watch<string>;
  interrupt(): void;
}

interface RunningOnTime extends Running {
  /** Lets the command's time be over now. */
  timeOut(): void;
}

function timeOut(): void {
  vi.advanceTimersByTime(never);
  // The graces that begin now are real.
  vi.useRealTimers();
}

/** Runs a script whose time is over when the test says so, and not before the script has come as far as it should. */
async function runOnTime(script: string, given: Partial<typeof patience> = {}): Promise<RunningOnTime> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return { ...(await run(script, given)), timeOut };
}

async function run(script: string, given: Partial<typeof patience> = {}): Promise<Running> {
  const controller = new AbortController();
  const output = new Watch<string>();
  let text = "";
  const order = {
    argv: ["sh", "-c", script],
    cwd: await temporaryFolder(),
    env: { PATH: process.env["PATH"] ?? "" },
    timeoutMs: never,
    signal: controller.signal,
    onOutput: (_: string, bytes: Buffer) => output.push((text += bytes.toString())),
  };
  const end = runCommand(order, { ...patience, ...given }).then(started);
  return { end, output, interrupt: () => controller.abort() };
}

function started(end: CommandResult | undefined): CommandResult {
  if (end === undefined) throw new Error("it was not started");
  return end;
}

/** What it has printed, once it has printed so many lines. */
async function lines({ output }: Running, count: number): Promise<string> {
  return await output.until((text) => text.split("\n").length > count);
}

describe("a command that does not end", () => {
  test("is asked to end when its time is over", async () => {
    const running = await runOnTime("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done");
    await lines(running, 1);
    running.timeOut();
    expect(await running.end).toMatchObject({ cause: "timed_out", exitCode: 0, leftRunning: [] });
    expect(running.output.seen.at(-1)).toMatch(/\nbye\n/);
  });

  test("is killed after the grace when it ignores that", async () => {
    const running = await runOnTime("trap '' TERM; echo $$; sleep 60 & wait; sleep 60", { timeoutGraceMs: soon });
    const [pid = 0] = numbersIn(await lines(running, 1));
    running.timeOut();
    expect(await running.end).toMatchObject({ cause: "timed_out", exitCode: 137 });
    expect(isRunning(pid)).toBe(false);
  });

  test("is killed after the grace when it was stopped", async () => {
    const running = await runOnTime("echo $$; kill -STOP $$", { timeoutGraceMs: soon });
    const [pid = 0] = numbersIn(await lines(running, 1));
    await expect.poll(() => isStopped(pid), { timeout: never, interval: 5 }).toBe(true);
    running.timeOut();
    expect(await running.end).toMatchObject({ cause: "timed_out", exitCode: 137 });
  });

  test("is ended when the turn is interrupted, and everything it started with it", async () => {
    const running = await run("sleep 60 & echo $!; (sleep 60 & echo $!; wait) & echo $!; wait");
    const pids = numbersIn(await lines(running, 3));
    running.interrupt();
    expect(await running.end).toMatchObject({ cause: "interrupted", exitCode: 143, leftRunning: [] });
    await expectGone(...pids);
  });

  test("is killed soon after an interruption when it ignores being asked", async () => {
    const running = await run("trap '' TERM; echo ready; while :; do sleep 0.02; done", { interruptGraceMs: soon });
    await lines(running, 1);
    running.interrupt();
    expect(await running.end).toMatchObject({ cause: "interrupted", exitCode: 137 });
  });

  test("has no grace left when the turn is interrupted while it has its time to end", async () => {
    const running = await runOnTime("trap 'echo asked' TERM; echo ready; while :; do sleep 0.02; done");
    await lines(running, 1);
    running.timeOut();
    await lines(running, 2);
    running.interrupt();
    expect(await running.end).toMatchObject({ cause: "timed_out", exitCode: 137 });
  });
});

/** Shell that waits until the last process in the background has become `sleep`. */
const untilSleeping = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done';

describe("what a command leaves behind", () => {
  test("ends with the command, although it holds the output", async () => {
    const running = await run("sleep 60 & echo $!", { drainMs: soon });
    expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: true, leftRunning: [] });
    await expectGone(...numbersIn(await lines(running, 1)));
  });

  test("ends with the command when it does not hold the output, at once", async () => {
    const running = await run("sleep 60 >/dev/null 2>&1 & echo $!");
    expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: false, leftRunning: [] });
    await expectGone(...numbersIn(await lines(running, 1)));
  });

  test("has time to say its last words", async () => {
    const running = await run("{ sleep 0.1; echo later; } & echo first");
    expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: false });
    expect(running.output.seen.at(-1)).toBe("first\nlater\n");
  });

  test("is named when it left the group", async () => {
    const running = await run(`setsid sleep 60 >/dev/null 2>&1 & ${untilSleeping}; echo $!`);
    const [pid = 0] = numbersIn(await lines(running, 1));
    expect(await running.end).toMatchObject({ exitCode: 0, leftRunning: [{ pid, name: "sleep" }] });
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
    await expectGone(pid);
  });

  test("is named when it left the group and holds the output, which is let go of", async () => {
    const running = await run(`(setsid sleep 60 & ${untilSleeping}) ; echo first`, { drainMs: soon });
    const { leftRunning, ...rest } = await running.end;
    expect(rest).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: true });
    expect(leftRunning).toEqual([{ pid: expect.any(Number) as number, name: "sleep" }]);
    expect(running.output.seen.at(-1)).toBe("first\n");
    for (const { pid } of leftRunning) process.kill(pid, "SIGKILL");
  });

  test("is killed with the command after a timeout or an interruption, although it left the group", async () => {
    const script = "setsid sh -c 'echo $$; (setsid sleep 60 & echo $!) ; exec sleep 60' & echo $!; sleep 60";
    const timedOut = await runOnTime(script, { timeoutGraceMs: soon });
    await lines(timedOut, 3);
    timedOut.timeOut();
    expect(await timedOut.end).toMatchObject({ cause: "timed_out", leftRunning: [] });
    const interrupted = await run(script, { interruptGraceMs: soon });
    const pids = numbersIn(await lines(interrupted, 3));
    interrupted.interrupt();
    expect(await interrupted.end).toMatchObject({ cause: "interrupted", leftRunning: [] });
    await expectGone(...pids, ...numbersIn(timedOut.output.seen.at(-1) ?? ""));
  });
});

test("a command that kills its own group has its guard killed too, and that is all right", async () => {
  const running = await run("echo $$; kill -KILL 0");
  expect(await running.end).toMatchObject({ cause: "exited", exitCode: 137, leftRunning: [] });
});

test("a command may send its own group any other signal", async () => {
  const running = await run("trap '' USR1 TERM; kill -USR1 0; kill -TERM 0; sleep 60 & echo end", { drainMs: soon });
  expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: true, leftRunning: [] });
});

test("a command that waits for all its children does not wait for the guard", async () => {
  const running = await run("exec perl -e '1 while wait() != -1; print \"none\\n\"'");
  expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0 });
  expect(running.output.seen.at(-1)).toBe("none\n");
});
