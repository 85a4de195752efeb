import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { mockLlm, wireEnv } from "../support/wire-apis.js";

const fullOutput = `${Array.from({ length: 20_000 }, (_, index) => index + 1).join("\n")}\n`;

/** A conversation with a command whose output is longer than the model receives. */
async function openWithLongOutput(command = "seq 1 20000") {
  const mock = await mockLlm([
    { calls: [{ id: "call_1", name: "shell", arguments: { command } }] },
    { text: "done" },
    { text: "and so on" },
  ]);
  const cli = await Cli.open();
  const env = { ...wireEnv(mock), XDG_RUNTIME_DIR: join(cli.project, "run") };
  await mkdir(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  await cli.run(["chat", "--provider", "openai", "--sandbox", "danger-full-access", "go"], { env });
  const [id = ""] = await cli.ids();
  return { cli, env, id, folder: join(cli.conversations, `${id}.jsonl.blobs`) };
}

test("output lists and prints the full output of a call", async () => {
  const { cli, env, id, folder } = await openWithLongOutput();
  expect((await cli.run(["output", id], { env })).stdout).toBe(`call_1  ${fullOutput.length} bytes\n`);
  const { code, stdout } = await cli.run(["output", id, "call_1"], { env });
  expect([code, stdout === fullOutput]).toEqual([0, true]);
  const [sha256] = await readdir(folder);
  expect(JSON.parse((await cli.run(["output", id, "--json"], { env })).stdout)).toEqual([
    { type: "blob", call_id: "call_1", sha256, bytes: fullOutput.length },
  ]);
  expect(await cli.run(["output", id, "call_2"], { env })).toMatchObject({
    code: 1,
    stderr: "✗ Full output of call_2: not found. It was not truncated; the conversation has all of it\n",
  });
  await rm(folder, { recursive: true });
  expect(await cli.run(["output", id, "call_1"], { env })).toMatchObject({
    code: 1,
    stderr: "✗ Full output of call_1: its file is missing or damaged\n",
  });
});

test("control characters in a stored output are replaced unless --raw is given", async () => {
  const { cli, env, id } = await openWithLongOutput("seq 1 20000; printf 'a\\033[2J\\r\\n'");
  const { stdout } = await cli.run(["output", id, "call_1"], { env });
  expect(stdout.slice(-7)).toBe("a\u241b[2J\n".padStart(7, "\n"));
  expect((await cli.run(["output", id, "call_1", "--raw"], { env })).stdout.slice(-8)).toBe("\na\u001b[2J\r\n");
});

test("doctor accepts intact stored outputs and reports damaged and orphaned ones", async () => {
  const { cli, env, id, folder } = await openWithLongOutput();
  expect(await cli.run(["doctor"], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Checked 1 conversation: no problems found\n/),
  });
  const [name = ""] = await readdir(folder);
  await writeFile(join(folder, name), "something else");
  expect(await cli.run(["doctor"], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("a damaged stored file: its content does not match its hash\n"),
  });
  await rm(join(folder, name));
  await writeFile(join(folder, "a".repeat(64)), "", { mode: 0o644 });
  await rename(join(cli.conversations, `${id}.jsonl`), join(cli.conversations, "conv_other.jsonl"));
  const { code, stdout } = await cli.run(["doctor"], { env });
  expect(code).toBe(1);
  expect(stdout).toContain("other users can read it (mode 644)");
  expect(stdout).toContain(`· ${folder}: 1 file of a conversation that no longer exists\n  Run: rm -r ${folder}\n`);
});

test("list and the next turn ignore stored outputs, and scrub removes one with a secret", async () => {
  const { cli, env, id, folder } = await openWithLongOutput("seq 1 20000; echo pin=4711");
  expect(await cli.run(["list"], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining("Total: 1 conv") });
  expect(await cli.run(["chat", "go on"], { env })).toMatchObject({ code: 0, stdout: "and so on\n" });
  const found = await cli.run(["scrub", id, "--pattern", "pin", "--write"], { env });
  expect(found.stdout).toMatch(/\n {2}full tool output [0-9a-f]{12}: 1 by name; the whole file is removed\n/);
  expect(await readdir(folder)).toEqual([]);
  expect((await cli.run(["scrub", id, "--pattern", "pin"], { env })).stdout).toBe(`${id}: no secrets found\n`);
});
