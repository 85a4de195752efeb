import { chmod, mkdir, readdir, realpath, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { getEventListeners } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shell } from "../../src/tools/shell.js";
import { approved, call, toolContext } from "./tool-context.js";

const wallTime = /^Wall time: \d+\.\d seconds$/m;

/** What is left of a report without the wall time. */
function steady(content: string): string {
  expect(content).toMatch(wallTime);
  return content.replace(wallTime, "Wall time: ...");
}

describe("what runs", () => {
  test("a text runs in sh, a vector as it is", async () => {
    const scope = { cwd: "/projects", sandbox: "workspace-write", privatePaths: [] } as const;
    expect(await shell.command({ command: "ls | wc" }, scope)).toEqual({
      argv: ["sh", "-c", "ls | wc"],
      cwd: "/projects",
    });
    expect(await shell.command({ command: ["ls", "-l"], workdir: "a/../b" }, scope)).toEqual({
      argv: ["ls", "-l"],
      cwd: "/projects/b",
    });
  });

  test("what was said before, whatever the arguments are", async () => {
    const context = await toolContext();
    await mkdir(join(context.cwd, "inner"));
    const command = { argv: ["pwd", "-P"], cwd: join(context.cwd, "inner") };
    const { content } = await shell.run({ command: "echo other" }, { ...context, command });
    expect(content).toContain(`Output:\n${command.cwd}\n`);
    expect(context.events.seen[0]).toMatchObject({ command: command.argv, cwd: command.cwd });
  });

  test("a folder behind a symbolic link is asked about as what it is, and is not another one later", async () => {
    const context = await toolContext();
    const at = (name: string): string => join(context.cwd, name);
    await mkdir(at("one"));
    await mkdir(at("other"));
    await symlink("one", at("link"));
    const args = { command: "pwd -P", workdir: "link" };
    expect((await shell.command(args, context)).cwd).toBe(at("one"));
    const [first, second] = [await approved(shell, args, context), await approved(shell, args, context)];
    await rm(at("link"));
    await symlink("other", at("link"));
    expect((await first()).content).toContain(`Output:\n${at("one")}\n`);
    await rmdir(at("one"));
    await symlink("other", at("one"));
    expect(await second()).toEqual({
      content: `cannot run in ${at("one")}: the path's target changed after the approval request`,
      success: false,
    });
  });

  test.each([
    { command: [] },
    { command: "" },
    { command: [""] },
    { command: ["-c", "x"] },
    { command: ["ls", "a\0b"] },
    { command: "ls\0" },
    { command: "ls", workdir: "\0" },
    { command: "ls", timeout_ms: 0 },
    { command: "ls", timeout_ms: 600_001 },
    { command: "ls", sandbox: "danger-full-access" },
    { command: "ls", with_escalated_permissions: true },
  ])("%j is refused", (args) => {
    expect(shell.parameters.safeParse(args).success).toBe(false);
  });
});

test("a command's exit code and output come back, and events tell of it", async () => {
  const context = await toolContext();
  const { content, success } = await call(shell, { command: "printf 'one\\n'; printf 'two\\n' >&2; exit 3" }, context);
  expect(steady(content)).toBe("Exit code: 3\nWall time: ...\nOutput:\none\ntwo\n");
  expect(success).toBe(false);
  const [begin, ...deltas] = context.events.seen;
  const end = deltas.pop();
  expect(begin).toEqual({
    type: "exec_command_begin",
    call_id: "call_1",
    turn_id: "turn_1",
    command: ["sh", "-c", "printf 'one\\n'; printf 'two\\n' >&2; exit 3"],
    cwd: context.cwd,
  });
  expect(deltas).toEqual([
    { type: "exec_command_output_delta", call_id: "call_1", stream: "stdout", chunk: btoa("one\n") },
    { type: "exec_command_output_delta", call_id: "call_1", stream: "stderr", chunk: btoa("two\n") },
  ]);
  expect(end).toEqual({
    type: "exec_command_end",
    call_id: "call_1",
    stdout: "one\n",
    stderr: "two\n",
    exit_code: 3,
    duration: { secs: 0, nanos: expect.any(Number) as number },
  });
});

test("success is exit code 0; a signal counts as a shell counts it", async () => {
  const context = await toolContext();
  expect((await call(shell, { command: ["true"] }, context)).success).toBe(true);
  expect((await call(shell, { command: "kill -SEGV $$" }, context)).content).toContain("Exit code: 139\n");
});

test("it runs in the conversation's folder or the one that was named", async () => {
  const context = await toolContext();
  await mkdir(join(context.cwd, "inner"));
  expect((await call(shell, { command: "pwd -P" }, context)).content).toContain(`Output:\n${context.cwd}\n`);
  const inner = await realpath(join(context.cwd, "inner"));
  expect((await call(shell, { command: "pwd -P", workdir: "inner" }, context)).content).toContain(`\n${inner}\n`);
});

test("the environment is the one that was given, without colours and pagers, and nothing of ours", async () => {
  const context = await toolContext({ env: { PATH: "/usr/bin:/bin", marker: "mine" } });
  const { content } = await call(shell, { command: ["env"] }, context);
  const names = content.split("Output:\n")[1]?.trim().split("\n").toSorted();
  expect(names).toEqual([
    expect.stringMatching(/^CODY_CALL=/),
    "GIT_PAGER=cat",
    "NO_COLOR=1",
    "PAGER=cat",
    "PATH=/usr/bin:/bin",
    `PWD=${context.cwd}`,
    "TERM=dumb",
    "marker=mine",
  ]);
});

test("a command inherits no ignored signal, no child and no descriptor", async () => {
  const context = await toolContext();
  const { content } = await call(
    shell,
    { command: ["sh", "-c", "grep -E 'SigIgn|SigBlk' /proc/self/status"] },
    context,
  );
  expect(content).toContain("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  const descriptors = await call(shell, { command: "test -e /proc/self/fd/3 || echo none" }, context);
  expect(descriptors.content).toContain("Output:\nnone\n");
  const children = await call(shell, { command: ["sh", "-c", "cat /proc/$$/task/$$/children; echo end"] }, context);
  expect(children.content).toMatch(/Output:\n\d+ end\n/);
});

test("standard input is empty", async () => {
  const context = await toolContext();
  const { content } = await call(shell, { command: "cat; echo end" }, context);
  expect(steady(content)).toBe("Exit code: 0\nWall time: ...\nOutput:\nend\n");
});

test("the output can be opened by name", async () => {
  const context = await toolContext();
  const { content } = await call(shell, { command: "echo out >/dev/stdout; echo err >/dev/stderr" }, context);
  expect(content).toContain("Output:\nout\nerr\n");
});

test("a folder for pipes that cannot be used is done without", async () => {
  const context = await toolContext({ env: { PATH: "/usr/bin:/bin", TMPDIR: "/nowhere" } });
  const { content } = await call(shell, { command: "echo out; echo err >&2" }, context);
  expect(steady(content)).toBe("Exit code: 0\nWall time: ...\nOutput:\nout\nerr\n");
});

test("control characters and broken UTF-8 stay harmless data", async () => {
  const context = await toolContext();
  const { content } = await call(shell, { command: "printf '\\033]52;c;eA==\\007\\377\\342\\200\\256'" }, context);
  expect(content).toContain("Output:\n\u001b]52;c;eA==\u0007\u{fffd}\u202e");
  const delta = await context.events.until(({ type }) => type === "exec_command_output_delta");
  expect(delta).toMatchObject({ chunk: Buffer.from("1b5d35323b633b65413d3d07ffe280ae", "hex").toString("base64") });
});

test("a character that came in two pieces is one character", async () => {
  const context = await toolContext();
  const command = "printf '\\342'; printf x >&2; until [ -e go ]; do sleep 0.01; done; printf '\\202\\254'";
  const running = call(shell, { command }, context);
  for (const stream of ["stdout", "stderr"]) {
    await context.events.until((event) => event.type === "exec_command_output_delta" && event.stream === stream);
  }
  await writeFile(join(context.cwd, "go"), "");
  const { content } = await running;
  expect(content).toContain("Output:\nx€");
});

describe("what cannot be started is answered, not thrown", () => {
  test("a program that is not there, or is none", async () => {
    const context = await toolContext();
    await writeFile(join(context.cwd, "plain"), "text");
    await chmod(join(context.cwd, "plain"), 0o644);
    const missing = await call(shell, { command: ["no-such-program"] }, context);
    expect(steady(missing.content)).toMatch(
      /^Exit code: 127\nWall time: ...\nOutput:\n.*no-such-program: not found\n$/,
    );
    const plain = await call(shell, { command: ["./plain"] }, context);
    expect(steady(plain.content)).toMatch(/^Exit code: 126\nWall time: ...\nOutput:\n.*[Pp]ermission denied\n$/);
    expect([missing.success, plain.success]).toEqual([false, false]);
  });

  test("arguments that are too long", async () => {
    const context = await toolContext();
    const output = await call(shell, { command: ["echo", "x".repeat(200_000)] }, context);
    expect(output).toEqual({ content: "cannot run echo: the arguments are too long for the system", success: false });
    expect(context.events.seen.map(({ type }) => type)).toEqual(["exec_command_begin", "exec_command_end"]);
    expect(context.events.seen[1]).toMatchObject({ exit_code: -1, stderr: output.content });
  });

  test("a folder that is gone, or is none", async () => {
    const context = await toolContext();
    const gone = join(context.cwd, "gone");
    await mkdir(gone);
    await rmdir(gone);
    await writeFile(join(context.cwd, "file"), "");
    expect(await call(shell, { command: "ls", workdir: "gone" }, context)).toEqual({
      content: `cannot run in ${gone}: it does not exist`,
      success: false,
    });
    expect(await call(shell, { command: "ls", workdir: "file" }, context)).toEqual({
      content: `cannot run in ${join(context.cwd, "file")}: it is not a folder`,
      success: false,
    });
  });
});

test("an interrupted command says so, and one that was not started too", async () => {
  const controller = new AbortController();
  const context = await toolContext({ signal: controller.signal });
  const output = call(shell, { command: "echo begun; sleep 60" }, context);
  await context.events.until(({ type }) => type === "exec_command_output_delta");
  controller.abort();
  const { content, success } = await output;
  expect(steady(content)).toBe(
    "Exit code: 130\nWall time: ...\nInterrupted with its turn and killed\nOutput:\nbegun\n",
  );
  expect(success).toBe(false);
  const late = await call(shell, { command: "echo late" }, context);
  expect(late).toEqual({ content: "Interrupted before the command was started", success: false });
});

test("an interruption before the command was started leaves no effect of it", async () => {
  const controllers = Array.from({ length: 10 }, () => new AbortController());
  const { cwd } = await toolContext();
  const outputs = controllers.map(async (controller, index) => {
    const context = await toolContext({ cwd, signal: controller.signal });
    const run = await approved(shell, { command: `: >made-${index}` }, context);
    const running = run();
    controller.abort();
    return { output: await running, told: context.events.seen };
  });
  const content = "Interrupted before the command was started";
  for (const { output, told } of await Promise.all(outputs)) {
    expect(output).toEqual({ content, success: false });
    expect(told).toMatchObject([{ type: "exec_command_begin" }, { type: "exec_command_end", stderr: content }]);
  }
  expect(await readdir(cwd)).toEqual([]);
});

test("calls leave nothing on the signal of their turn, and no descriptor", async () => {
  const { signal } = new AbortController();
  const context = await toolContext({ signal });
  await call(shell, { command: ["true"] }, context);
  const before = readdirSync("/proc/self/fd").length;
  const commands = [["true"], ["no-such-program"], ["echo", "x".repeat(200_000)], ["sh", "-c", "kill -KILL 0"]];
  await Promise.all(commands.map((command) => call(shell, { command }, context)));
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await expect.poll(() => readdirSync("/proc/self/fd").length, { interval: 5 }).toBe(before);
});
