import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, finished, saysOn } from "../support/cli.js";

test("resume prints provider and model, and chat continues that conversation", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "first"]);
  const [id = ""] = await cli.ids();
  await cli.run(["new"]);
  expect(await cli.run(["resume", id])).toMatchObject({
    code: 0,
    stdout: `✓ Resumed conversation: ${id}\n  Provider: offline (offline)\n  Continue chatting: cody chat "your message"\n`,
  });
  await cli.run(["chat", "second"]);
  expect(await cli.said(id)).toEqual(["first", "second"]);
});

test("resume --no-persistence makes no conversation active and does not announce it", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "first"]);
  const [id = ""] = await cli.ids();
  const other = (await cli.run(["new"])).stdout.trim();
  const { code, stdout, stderr } = await cli.run(["--no-persistence", "resume", id]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `✓ Resumed conversation: ${id}\n  Provider: offline (offline)\n`,
  });
  expect(stderr).toContain("Not made the active conversation: --no-persistence was given\n");
  await cli.run(["chat", "second"]);
  expect(await cli.said(other)).toEqual(["second"]);
  expect((await cli.run(["--no-persistence", "resume", other])).stdout).toContain("Continue chatting");
});

test("a policy given to resume applies to the next chat if it is stricter", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "first"]);
  const [id = ""] = await cli.ids();
  expect(await cli.run(["resume", id, "--sandbox", "read-only", "--approval-policy", "untrusted"])).toMatchObject({
    code: 0,
  });
  expect((await cli.run(["chat", "second"])).stderr).toContain(
    "still apply: --approval-policy untrusted --sandbox read-only\n",
  );
});

test.each([
  [["--last"], "--last"],
  [["--continue"], "--continue"],
  [["--resume", "other"], "--resume"],
])("resume with an id and %j is rejected because one of them would be ignored", async (flags, named) => {
  const cli = await Cli.open();
  expect(await cli.run(["resume", "conv_a", ...flags])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`✗ ${named} cannot be combined with a`),
  });
});

test("a bare UUID and a prefix also identify a conversation", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "hello"]);
  const [id = ""] = await cli.ids();
  const uuid = id.slice("conv_".length);
  for (const text of [uuid, uuid.slice(0, 13), id.slice(0, 20)]) {
    expect((await cli.run(["resume", text])).stdout).toContain(`✓ Resumed conversation: ${id}\n`);
  }
});

test("resume without an id resumes the newest conversation of this project", async () => {
  const cli = await Cli.open();
  const elsewhere = join(cli.project, "elsewhere");
  await mkdir(elsewhere);
  await cli.run(["chat", "here"]);
  const [id = ""] = await cli.ids();
  await cli.run(["chat", "there"], { cwd: elsewhere });
  await cli.run(["new"]);
  expect((await cli.run(["resume"])).stdout).toContain(`✓ Resumed conversation: ${id}\n`);
});

test("resume without an id and without conversations reports that there is none", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["resume"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No saved conversation in this project"),
  });
});

test.each(["conv_nobody", "0123", "../../etc/passwd", "/etc/passwd", "..", "conv_a/../b", "a b", "é"])(
  "resume reports an unknown conversation: %j",
  async (id) => {
    const cli = await Cli.open();
    expect(await cli.run(["resume", id])).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `✗ Conversation '${id}' not found\n  List available: cody list\n`,
    });
  },
);

test("an empty conversation cannot be resumed, but chat can continue it", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new"])).stdout.trim();
  expect(await cli.run(["resume", id])).toMatchObject({ code: 1, stderr: `✗ Conversation '${id}' has no turns\n` });
  await cli.run(["chat", "hello"]);
  expect(await cli.run(["resume", id])).toMatchObject({ code: 0 });
});

test("a zero-byte file has no turns", async () => {
  const cli = await Cli.open();
  await mkdir(cli.conversations, { recursive: true });
  await writeFile(join(cli.conversations, "conv_empty.jsonl"), "");
  expect(await cli.run(["resume", "conv_empty"])).toMatchObject({
    code: 1,
    stderr: "✗ Conversation 'conv_empty' has no turns\n",
  });
});

test("a damaged file is reported with its line", async () => {
  const cli = await Cli.open();
  await mkdir(cli.conversations, { recursive: true });
  await writeFile(join(cli.conversations, "conv_broken.jsonl"), "invalid json\n{broken");
  const { code, stderr } = await cli.run(["resume", "conv_broken"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^✗ Conversation 'conv_broken' has corrupted data\n {2}Conversation conv_broken: line 1: not valid JSON: Unexpected token 'i'\n {2}Preview a repair: cody repair conv_broken\n$/,
  );
});

test("a conversation in use is reported with the pid of the process", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "hello"]);
  const [id = ""] = await cli.ids();
  const other = cli.start(["chat", "wait"], { middle: "hold" });
  await saysOn(other.stdout, "I am");
  const text = `✗ Conversation '${id}' is in use by pid ${other.pid}\n`;
  expect(await cli.run(["resume", id])).toMatchObject({ code: 1, stdout: "", stderr: text });
  expect(await cli.run(["chat", "me too"])).toMatchObject({ code: 1, stdout: "", stderr: text });
});

test("a conversation another machine may be writing is opened only with --force", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new"])).stdout.trim();
  await cli.run(["chat", "my name is Alice"]);
  const owner = { token: "0".repeat(32), pid: 7, host: "elsewhere", bootId: "b", pidNamespace: "p", socket: "/tmp/s" };
  await writeFile(join(cli.conversations, `${id}.jsonl.lock`), JSON.stringify(owner));
  const refused = await cli.run(["chat", "What is my name?"]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    `✗ Conversation '${id}' is in use by pid 7 on another machine\n` +
      `  If no other cody is using it: cody resume ${id} --force\n`,
  );
  expect((await cli.run(["resume", id, "--force"])).code).toBe(0);
  expect((await cli.run(["chat", "What is my name?"])).stdout).toContain("Alice");
});

test("a turn cut off by a crash is reported as interrupted earlier, not as interrupted now", async () => {
  const cli = await Cli.open();
  const killed = cli.start(["chat", "wait"], { middle: "hold" });
  await saysOn(killed.stdout, "I am");
  killed.kill("SIGKILL");
  await finished(killed);
  const { code, stderr } = await cli.run(["resume", "--last"]);
  expect(code).toBe(0);
  expect(stderr).toContain("The last turn was interrupted before it ended.\n");
  expect(stderr).not.toContain("Interrupted.");
});
