import { spawn } from "node:child_process";
import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, commandOf, finished, saysOn } from "../support/cli.js";

const fullAccess = ["--sandbox", "danger-full-access"];
const refused = "Refused: needs approval, but cody cannot ask in this run: sh -c 'touch made'\n";

test("a command that needs approval is refused without a terminal, and chat exits with 1", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["chat", "run touch made"]);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "The tool answered:\nshell was refused: it needs approval, and approvals are not available in this run\n",
    stderr: expect.stringContaining(refused),
  });
  expect(await isMade(cli)).toBe(false);
});

test.each(["< /dev/null", "<&-", "< /dev/null 2>&-"])(
  "with stdin %s chat exits with 1 and does not ask",
  async (stdin) => {
    const cli = await Cli.open();
    const script = `"$@" ${stdin}`;
    const command = commandOf(["chat", "run touch made"]);
    const { code } = await finished(spawn("sh", ["-c", script, "sh", ...command], { cwd: cli.project, env: cli.env }));
    expect([code, await isMade(cli)]).toEqual([1, false]);
  },
);

test("piped lines run nothing without approval either, and the run exits with 1", async () => {
  const cli = await Cli.open();
  const { code, stderr } = await cli.run([], { input: "run touch made\ny\n" });
  expect([code, stderr.includes(refused), await isMade(cli)]).toEqual([1, true, false]);
});

test("with full access the command runs: the answer is on stdout, the tool activity on stderr", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["chat", ...fullAccess, "run echo 'it runs' && exit 3"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^The tool answered:\nExit code: 3\n/) });
  expect(stderr).toContain("$ sh -c 'echo '\\''it runs'\\'' && exit 3'\n  it runs\n  exit code 3\n");
});

test.each([
  ["read gone", "read_file gone\n  failed: cannot read "],
  ["write /etc/passwd/made: x", "write_file /etc/passwd/made x\n  failed: cannot write /etc/passwd/made: "],
])("%s is shown as not done", async (said, shown) => {
  const cli = await Cli.open();
  expect((await cli.run(["chat", said])).stderr).toContain(shown);
});

test("a patch whose lines are not in the file shows them to the user and to the model", async () => {
  const cli = await Cli.open();
  await writeFile(join(cli.project, "a.txt"), "one\n");
  const patch = "*** Begin Patch\n*** Update File: a.txt\n two\n-three\n+four\n*** End Patch";
  const { stdout, stderr } = await cli.run(["chat", patch]);
  expect(stdout).toContain("a.txt: these lines are not in it:\ntwo\nthree\nNothing was run.\n");
  expect(stderr).toContain("a.txt: these lines are not in it:\n    two\n    three\n    Nothing was run.\n");
});

test("approval policy never does not ask and runs nothing that makes changes", async () => {
  const cli = await Cli.open();
  const { stderr } = await cli.run(["chat", "--approval-policy", "never", "run touch made"]);
  expect(stderr).toContain("$ sh -c 'touch made'\n  failed: shell was refused: ");
  expect([stderr.includes("Refused"), await isMade(cli)]).toEqual([false, false]);
});

test("with --json stdout contains only events, including those of the tool", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["chat", "--json", ...fullAccess, "run echo hi"]);
  const types = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).msg.type);
  expect(code).toBe(0);
  expect(types.filter((type: string) => type.startsWith("exec_"))).toEqual([
    "exec_command_begin",
    "exec_command_output_delta",
    "exec_command_end",
  ]);
  expect(stderr).not.toContain("$ sh");
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s while a command runs ends it, and the exit code is %i", async (signal, code) => {
  const cli = await Cli.open();
  const child = cli.start(["chat", ...fullAccess, "run echo begun; sleep 600"]);
  await saysOn(child.stderr, "  begun\n");
  child.kill(signal);
  expect(await finished(child)).toMatchObject({ code, stderr: expect.stringContaining("Interrupted.\n") });
  const [id = ""] = await cli.ids();
  expect((await cli.lines(id)).at(-1)?.payload).toMatchObject({ type: "turn_aborted", reason: "interrupted" });
});

async function isMade(cli: Cli): Promise<boolean> {
  return await access(join(cli.project, "made")).then(
    () => true,
    () => false,
  );
}
