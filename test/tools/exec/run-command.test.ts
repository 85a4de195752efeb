import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type CommandResult, runCommand } from "../../../src/tools/exec/run-command.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { Watch } from "../../support/watch.js";
import { expectGone, isRunning, isStopped, numbersIn } from "../processes.js";

/** Longer than the test timeout, so that a test that waits for it fails. */
const longMs = 60_000;
const longGraces = { drainMs: longMs, timeoutGraceMs: longMs, interruptGraceMs: longMs, killMs: longMs, restMs: 100 };
const shortMs = 50;

interface Running {
  readonly end: Promise<CommandResult>;
  readonly output: Watch<string>;
  interrupt(): void;
}

interface RunningWithClock extends Running {
  /** Makes the command's timeout expire now. */
  timeOut(): void;
}

function timeOut(): void {
  vi.advanceTimersByTime(longMs);
  // The grace periods that start now use real time.
  vi.useRealTimers();
}

/** Runs a script whose timeout expires when the test calls `timeOut`, once the script has got far enough. */
async function runWithClock(script: string, given: Partial<typeof longGraces> = {}): Promise<RunningWithClock> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return { ...(await run(script, given)), timeOut };
}

async function run(script: string, given: Partial<typeof longGraces> = {}): Promise<Running> {
  const controller = new AbortController();
  const output = new Watch<string>();
  let text = "";
  const order = {
    argv: ["sh", "-c", script],
    cwd: await temporaryFolder(),
    env: { PATH: process.env["PATH"] ?? "" },
    timeoutMs: longMs,
    signal: controller.signal,
    onOutput: (_: string, bytes: Buffer) => output.push((text += bytes.toString())),
  };
  const end = runCommand(order, { ...longGraces, ...given }).then(started);
  return { end, output, interrupt: () => controller.abort() };
}

function started(end: CommandResult | undefined): CommandResult {
  if (end === undefined) throw new Error("it was not started");
  return end;
}

/** The output of a command once it has printed that many lines. */
async function lines({ output }: Running, count: number): Promise<string> {
  return await output.until((text) => text.split("\n").length > count);
}

describe("a command that does not end", () => {
  test("gets SIGTERM when its timeout expires", async () => {
    const running = await runWithClock("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done");
    await lines(running, 1);
    running.timeOut();
    expect(await running.end).toMatchObject({ cause: "timed_out", exitCode: 0, leftRunning: [] });
    expect(running.output.seen.at(-1)).toMatch(/\nbye\n/);
  });

  test("is killed after the grace period when it ignores SIGTERM", async () => {
    const running = await runWithClock("trap '' TERM; echo $$; sleep 60 & wait; sleep 60", { timeoutGraceMs: shortMs });
    const [pid = 0] = numbersIn(await lines(running, 1));
    running.timeOut();
    expect(await running.end).toMatchObject({ cause: "timed_out", exitCode: 137 });
    expect(isRunning(pid)).toBe(false);
  });

  test("is killed after the grace period when it was stopped by SIGSTOP", async () => {
    const running = await runWithClock("echo $$; kill -STOP $$", { timeoutGraceMs: shortMs });
    const [pid = 0] = numbersIn(await lines(running, 1));
    await expect.poll(() => isStopped(pid), { timeout: longMs, interval: 5 }).toBe(true);
    running.timeOut();
    expect(await running.end).toMatchObject({ cause: "timed_out", exitCode: 137 });
  });

  test("is ended with all its children when the turn is interrupted", async () => {
    const running = await run("sleep 60 & echo $!; (sleep 60 & echo $!; wait) & echo $!; wait");
    const pids = numbersIn(await lines(running, 3));
    running.interrupt();
    expect(await running.end).toMatchObject({ cause: "interrupted", exitCode: 143, leftRunning: [] });
    await expectGone(...pids);
  });

  test("is killed after the interrupt grace period when it ignores SIGTERM", async () => {
    const running = await run("trap '' TERM; echo ready; while :; do sleep 0.02; done", { interruptGraceMs: shortMs });
    await lines(running, 1);
    running.interrupt();
    expect(await running.end).toMatchObject({ cause: "interrupted", exitCode: 137 });
  });

  test("is killed at once when the turn is interrupted during the timeout grace period", async () => {
    const running = await runWithClock("trap 'echo asked' TERM; echo ready; while :; do sleep 0.02; done");
    await lines(running, 1);
    running.timeOut();
    await lines(running, 2);
    running.interrupt();
    expect(await running.end).toMatchObject({ cause: "timed_out", exitCode: 137 });
  });
});

/** Shell code that waits until the last background process has become `sleep`. */
const untilSleeping = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done';

describe("a background process", () => {
  test("ends with the command, although it holds the output open", async () => {
    const running = await run("sleep 60 & echo $!", { drainMs: shortMs });
    expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: true, leftRunning: [] });
    await expectGone(...numbersIn(await lines(running, 1)));
  });

  test("that does not hold the output open ends with the command at once", async () => {
    const running = await run("sleep 60 >/dev/null 2>&1 & echo $!");
    expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: false, leftRunning: [] });
    await expectGone(...numbersIn(await lines(running, 1)));
  });

  test("has time to write its remaining output", async () => {
    const running = await run("{ sleep 0.1; echo later; } & echo first");
    expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: false });
    expect(running.output.seen.at(-1)).toBe("first\nlater\n");
  });

  test("outside the process group is listed as left running", async () => {
    const running = await run(`setsid sleep 60 >/dev/null 2>&1 & ${untilSleeping}; echo $!`);
    const [pid = 0] = numbersIn(await lines(running, 1));
    expect(await running.end).toMatchObject({ exitCode: 0, leftRunning: [{ pid, name: "sleep" }] });
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
    await expectGone(pid);
  });

  test("outside the process group that holds the output open is listed, and the output is closed", async () => {
    const running = await run(`(setsid sleep 60 & ${untilSleeping}) ; echo first`, { drainMs: shortMs });
    const { leftRunning, ...rest } = await running.end;
    expect(rest).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: true });
    expect(leftRunning).toEqual([{ pid: expect.any(Number) as number, name: "sleep" }]);
    expect(running.output.seen.at(-1)).toBe("first\n");
    for (const { pid } of leftRunning) process.kill(pid, "SIGKILL");
  });

  test("outside the process group is killed after a timeout or an interruption", async () => {
    const script = "setsid sh -c 'echo $$; (setsid sleep 60 & echo $!) ; exec sleep 60' & echo $!; sleep 60";
    const timedOut = await runWithClock(script, { timeoutGraceMs: shortMs });
    await lines(timedOut, 3);
    timedOut.timeOut();
    expect(await timedOut.end).toMatchObject({ cause: "timed_out", leftRunning: [] });
    const interrupted = await run(script, { interruptGraceMs: shortMs });
    const pids = numbersIn(await lines(interrupted, 3));
    interrupted.interrupt();
    expect(await interrupted.end).toMatchObject({ cause: "interrupted", leftRunning: [] });
    await expectGone(...pids, ...numbersIn(timedOut.output.seen.at(-1) ?? ""));
  });
});

test("a command may kill its own process group, with the guard in it", async () => {
  const running = await run("echo $$; kill -KILL 0");
  expect(await running.end).toMatchObject({ cause: "exited", exitCode: 137, leftRunning: [] });
});

test("a command may send other signals to its own process group", async () => {
  const running = await run("trap '' USR1 TERM; kill -USR1 0; kill -TERM 0; sleep 60 & echo end", { drainMs: shortMs });
  expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0, wasHeldOpen: true, leftRunning: [] });
});

test("a command that waits for all its children does not wait for the guard", async () => {
  const running = await run("exec perl -e '1 while wait() != -1; print \"none\\n\"'");
  expect(await running.end).toMatchObject({ cause: "exited", exitCode: 0 });
  expect(running.output.seen.at(-1)).toBe("none\n");
});
