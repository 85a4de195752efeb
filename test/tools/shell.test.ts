import { chmod, mkdir, readdir, realpath, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { getEventListeners } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shell } from "../../src/tools/shell.js";
import { approved, call, toolContext } from "./tool-context.js";

const wallTime = /^Wall time: \d+\.\d seconds$/m;

/** The report with the wall time replaced by a placeholder. */
function withoutWallTime(content: string): string {
  expect(content).toMatch(wallTime);
  return content.replace(wallTime, "Wall time: ...");
}

describe("the command", () => {
  test("is run by sh for a text, and directly for an argument list", async () => {
    const scope = { cwd: "/projects", sandbox: "workspace-write", privatePaths: [] } as const;
    expect(await shell.command({ command: "ls | wc" }, scope)).toEqual({
      argv: ["sh", "-c", "ls | wc"],
      cwd: "/projects",
      access: { type: "command", isEscalated: false },
    });
    expect(await shell.command({ command: ["ls", "-l"], workdir: "a/../b" }, scope)).toEqual({
      argv: ["ls", "-l"],
      cwd: "/projects/b",
      access: { type: "command", isEscalated: false },
    });
  });

  test("is the approved one, whatever the arguments are", async () => {
    const context = await toolContext();
    await mkdir(join(context.cwd, "inner"));
    const command = { argv: ["pwd", "-P"], cwd: join(context.cwd, "inner") };
    const { content } = await shell.run({ command: "echo other" }, { ...context, command });
    expect(content).toContain(`Output:\n${command.cwd}\n`);
    expect(context.events.seen[0]).toMatchObject({ command: command.argv, cwd: command.cwd });
  });

  test("has the real working folder, and is refused if that changes after the approval", async () => {
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
    { command: "ls", with_escalated_permissions: "yes" },
  ])("%j is refused", (args) => {
    expect(shell.parameters.safeParse(args).success).toBe(false);
  });
});

test("a command returns its exit code and output and emits events", async () => {
  const context = await toolContext();
  const { content, success } = await call(shell, { command: "printf 'one\\n'; printf 'two\\n' >&2; exit 3" }, context);
  expect(withoutWallTime(content)).toBe("Exit code: 3\nWall time: ...\nOutput:\none\ntwo\n");
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

test("exit code 0 is success, and a signal has the exit code a shell gives it", async () => {
  const context = await toolContext();
  expect((await call(shell, { command: ["true"] }, context)).success).toBe(true);
  expect((await call(shell, { command: "kill -SEGV $$" }, context)).content).toContain("Exit code: 139\n");
});

test("a command runs in the conversation's folder or in workdir", async () => {
  const context = await toolContext();
  await mkdir(join(context.cwd, "inner"));
  expect((await call(shell, { command: "pwd -P" }, context)).content).toContain(`Output:\n${context.cwd}\n`);
  const inner = await realpath(join(context.cwd, "inner"));
  expect((await call(shell, { command: "pwd -P", workdir: "inner" }, context)).content).toContain(`\n${inner}\n`);
});

test("a command gets the given environment, without colours and pagers, and nothing else", async () => {
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

test("a command inherits no ignored signals, children or descriptors", async () => {
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
  expect(withoutWallTime(content)).toBe("Exit code: 0\nWall time: ...\nOutput:\nend\n");
});

test("a command can open /dev/stdout and /dev/stderr", async () => {
  const context = await toolContext();
  const { content } = await call(shell, { command: "echo out >/dev/stdout; echo err >/dev/stderr" }, context);
  expect(content).toContain("Output:\nout\nerr\n");
});

test("an unusable TMPDIR does not prevent a command", async () => {
  const context = await toolContext({ env: { PATH: "/usr/bin:/bin", TMPDIR: "/nowhere" } });
  const { content } = await call(shell, { command: "echo out; echo err >&2" }, context);
  expect(withoutWallTime(content)).toBe("Exit code: 0\nWall time: ...\nOutput:\nout\nerr\n");
});

test("control characters and invalid UTF-8 are kept as data", async () => {
  const context = await toolContext();
  const { content } = await call(shell, { command: "printf '\\033]52;c;eA==\\007\\377\\342\\200\\256'" }, context);
  expect(content).toContain("Output:\n\u001b]52;c;eA==\u0007\u{fffd}\u202e");
  const delta = await context.events.until(({ type }) => type === "exec_command_output_delta");
  expect(delta).toMatchObject({ chunk: Buffer.from("1b5d35323b633b65413d3d07ffe280ae", "hex").toString("base64") });
});

test("a character split over two writes is kept whole", async () => {
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

describe("a command that cannot start returns a failed output for", () => {
  test("a missing program and a file that is not executable", async () => {
    const context = await toolContext();
    await writeFile(join(context.cwd, "plain"), "text");
    await chmod(join(context.cwd, "plain"), 0o644);
    const missing = await call(shell, { command: ["no-such-program"] }, context);
    expect(withoutWallTime(missing.content)).toMatch(
      /^Exit code: 127\nWall time: ...\nOutput:\n.*no-such-program: not found\n$/,
    );
    const plain = await call(shell, { command: ["./plain"] }, context);
    expect(withoutWallTime(plain.content)).toMatch(
      /^Exit code: 126\nWall time: ...\nOutput:\n.*[Pp]ermission denied\n$/,
    );
    expect([missing.success, plain.success]).toEqual([false, false]);
  });

  test("arguments that are too long", async () => {
    const context = await toolContext();
    const output = await call(shell, { command: ["echo", "x".repeat(200_000)] }, context);
    expect(output).toEqual({ content: "cannot run echo: the arguments are too long for the system", success: false });
    expect(context.events.seen.map(({ type }) => type)).toEqual(["exec_command_begin", "exec_command_end"]);
    expect(context.events.seen[1]).toMatchObject({ exit_code: -1, stderr: output.content });
  });

  test("a missing workdir and one that is a file", async () => {
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

test("the output says that a command was interrupted, before or after its start", async () => {
  const controller = new AbortController();
  const context = await toolContext({ signal: controller.signal });
  const output = call(shell, { command: "echo begun; sleep 60" }, context);
  await context.events.until(({ type }) => type === "exec_command_output_delta");
  controller.abort();
  const { content, success } = await output;
  expect(withoutWallTime(content)).toBe(
    "Exit code: 130\nWall time: ...\nInterrupted with its turn and killed\nOutput:\nbegun\n",
  );
  expect(success).toBe(false);
  const late = await call(shell, { command: "echo late" }, context);
  expect(late).toEqual({ content: "Interrupted before the command was started", success: false });
});

test("a command interrupted before its start has no effect", async () => {
  const controllers = Array.from({ length: 10 }, () => new AbortController());
  const { cwd } = await toolContext();
  const outputs = controllers.map(async (controller, index) => {
    const context = await toolContext({ cwd, signal: controller.signal });
    const run = await approved(shell, { command: `: >made-${index}` }, context);
    const running = run();
    controller.abort();
    return { output: await running, events: context.events.seen };
  });
  const content = "Interrupted before the command was started";
  for (const { output, events } of await Promise.all(outputs)) {
    expect(output).toEqual({ content, success: false });
    expect(events).toMatchObject([{ type: "exec_command_begin" }, { type: "exec_command_end", stderr: content }]);
  }
  expect(await readdir(cwd)).toEqual([]);
});

test("calls leave no listener on the turn's signal and no open descriptor", async () => {
  const { signal } = new AbortController();
  const context = await toolContext({ signal });
  await call(shell, { command: ["true"] }, context);
  const before = readdirSync("/proc/self/fd").length;
  const commands = [["true"], ["no-such-program"], ["echo", "x".repeat(200_000)], ["sh", "-c", "kill -KILL 0"]];
  await Promise.all(commands.map((command) => call(shell, { command }, context)));
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await expect.poll(() => readdirSync("/proc/self/fd").length, { interval: 5 }).toBe(before);
});
