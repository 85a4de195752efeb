import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

const idPattern = /^conv_[0-9a-f-]{36}\n$/;

test("new prints only the id, and chat continues that conversation across processes", async () => {
  const cli = await Cli.open();
  const created = await cli.run(["new"]);
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(idPattern) });
  const id = created.stdout.trim();
  expect(await cli.run(["chat", "My name is Alice"])).toMatchObject({
    code: 0,
    stdout: "Noted: your name is Alice.\n",
  });
  expect(await cli.run(["chat", "What is my name?"])).toMatchObject({
    code: 0,
    stdout: "You told me: your name is Alice.\n",
  });
  expect(await cli.ids()).toEqual([id]);
  expect(await cli.said(id)).toEqual(["My name is Alice", "What is my name?"]);
});

test("without a key the offline model answers, and both key variables are named", async () => {
  const cli = await Cli.open();
  const { stderr } = await cli.run(["chat", "hello"]);
  expect(stderr).toContain("No OPENAI_API_KEY or ANTHROPIC_API_KEY is set");
});

test("chat without an active conversation creates one and says so", async () => {
  const cli = await Cli.open();
  const { stderr } = await cli.run(["chat", "hello"]);
  const [id] = await cli.ids();
  expect(stderr).toContain(`No active conversation: started ${id}`);
  await cli.run(["chat", "again"]);
  expect(await cli.ids()).toEqual([id]);
});

test("chat warns with a readable reason when it cannot save the active conversation", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(join(cli.home, "active"), "");
  const { code, stderr } = await cli.run(["chat", "hello"]);
  expect(code).toBe(0);
  expect(stderr).toContain("the active conversation: part of its path is a file, not a directory\n");
});

test("chat creates a new conversation and says so when the active conversation's file is gone", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new"])).stdout.trim();
  await rm(join(cli.conversations, `${id}.jsonl`));
  const { code, stderr } = await cli.run(["chat", "hello"]);
  const [newId] = await cli.ids();
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`${id} no longer exists: started ${newId}`),
  });
});

test("the active conversation is per project, shared by the folders of one project", async () => {
  const cli = await Cli.open();
  const one = join(cli.project, "one");
  const inside = join(one, "src");
  const two = join(cli.project, "two");
  await Promise.all([join(one, ".git"), inside, two].map((folder) => mkdir(folder, { recursive: true })));
  const first = (await cli.run(["new"], { cwd: one })).stdout.trim();
  const second = (await cli.run(["new"], { cwd: two })).stdout.trim();
  await cli.run(["chat", "in one"], { cwd: inside });
  await cli.run(["chat", "in two"], { cwd: two });
  expect(await cli.said(first)).toEqual(["in one"]);
  expect(await cli.said(second)).toEqual(["in two"]);
});

test.each([
  [["hello", "there"], "hello there"],
  [["42"], "42"],
  [["0x10", "1e3", "007"], "0x10 1e3 007"],
  [["--json", "true", "story"], "true story"],
  [["--", "-5", "is", "--negative"], "-5 is --negative"],
  [["before", "--", "--json"], "before --json"],
  [["-"], "-"],
  [["/etc/hosts", "=", "a=b"], "/etc/hosts = a=b"],
  [["line one\nline two"], "line one\nline two"],
])("chat %j sends exactly that text", async (args, said) => {
  const cli = await Cli.open();
  expect(await cli.run(["chat", ...args])).toMatchObject({ code: 0 });
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual([said]);
});

test("chat without a text reads all of stdin", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["chat"], { input: "line one\n\nwörld\n" })).toMatchObject({ code: 0 });
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["line one\n\nwörld"]);
});

test.each([[["chat"]], [["chat", ""]], [["chat", "  \n"]]])("%j is an empty text and creates no file", async (args) => {
  const cli = await Cli.open();
  const result = await cli.run(args);
  expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("the message is empty") });
  expect(await cli.ids()).toEqual([]);
});

test("chat --json prints one event per line and nothing else on stdout", async () => {
  const cli = await Cli.open();
  const { code, stdout } = await cli.run(["chat", "--json", "What is 6 * 7?"]);
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const types = events.map((event) => event.msg.type);
  expect(code).toBe(0);
  expect(types[0]).toBe("session_configured");
  expect(types).toContain("agent_message_delta");
  expect(events.at(-1).msg).toMatchObject({ type: "task_complete", last_agent_message: "6 * 7 = 42", saved: true });
});

test("--resume and --continue select another conversation and make it active", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "in the first"]);
  const [first = ""] = await cli.ids();
  const second = (await cli.run(["new"])).stdout.trim();
  await cli.run(["chat", "--resume", first, "by its id"]);
  await cli.run(["chat", "by the pointer"]);
  await cli.run(["chat", `--resume=${first.slice("conv_".length)}`, "by its uuid"]);
  expect(await cli.said(first)).toEqual(["in the first", "by its id", "by the pointer", "by its uuid"]);
  await cli.run(["chat", "--resume", second, "in the second"]);
  await cli.run(["chat", "--continue", "in the newest"]);
  expect(await cli.said(second)).toEqual(["in the second", "in the newest"]);
});

test("--continue without any conversation starts one with a notice", async () => {
  const cli = await Cli.open();
  const { code, stderr } = await cli.run(["chat", "--continue", "hello"]);
  const [id] = await cli.ids();
  expect(code).toBe(0);
  expect(stderr).toContain(`No saved conversation in this project: started ${id}`);
});

test("--resume with an unknown id is an error, not a new conversation", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["chat", "--resume", "conv_nobody", "hello"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "✗ Conversation 'conv_nobody' not found\n  List available: cody list\n",
  });
});

test("--resume with words that match no conversation sends them to the newest conversation", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "in the first"]);
  const [first = ""] = await cli.ids();
  await cli.run(["new"]);
  const { code, stderr } = await cli.run(["chat", "--resume", "What did I say?"]);
  expect(code).toBe(0);
  expect(stderr).toContain(
    "No conversation has the name given to --resume: sending it as a message to this project's latest conversation\n",
  );
  expect(await cli.said(first)).toEqual(["in the first", "What did I say?"]);
});

test("--resume with a name of several words selects that conversation and reads the message from stdin", async () => {
  const cli = await Cli.open();
  const named = (await cli.run(["new", "--name", "the parser"])).stdout.trim();
  await cli.run(["chat", "named"]);
  await cli.run(["new"]);
  await cli.run(["chat", "other"]);
  expect((await cli.run(["chat", "--resume", "the parser"], { input: "go on" })).code).toBe(0);
  expect(await cli.said(named)).toEqual(["named", "go on"]);
});

test.each([
  [["--resume", "hello"], "hello", "hello"],
  [["--resume", "tell", "me", "more"], "tell", "'tell me more'"],
])("chat %j is ambiguous between a name and a message: the error shows both commands", async (args, name, message) => {
  const cli = await Cli.open();
  await cli.run(["chat", "first"]);
  expect(await cli.run(["chat", ...args])).toMatchObject({
    code: 1,
    stdout: "",
    stderr:
      `✗ Conversation '${name}' not found\n  List available: cody list\n` +
      `  To send it as a message to the latest conversation: cody chat --continue ${message}\n`,
  });
});

test("chat with an unwritable home answers without saving", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(cli.conversations, "not a directory");
  const created = await cli.run(["new"]);
  expect(created).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(idPattern),
    stderr: expect.stringMatching(/^Not saved: .+/m),
  });
  const answered = await cli.run(["chat", "What is 6 * 7?"]);
  expect(answered).toMatchObject({ code: 0, stdout: "6 * 7 = 42\n" });
  expect(answered.stderr).toMatch(/^Failed to save turn: .+/m);
});

test("a failed save is written to the debug log with its reason and conversation", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(cli.conversations, "not a directory");
  const id = (await cli.run(["new"])).stdout.trim();
  const { stderr } = await cli.run(["chat", "--json", "hello"]);
  const reason = /^Failed to save turn: (.+)$/m.exec(stderr)?.[1];
  const lines = (await cli.log()).filter(({ message }) => message.startsWith("Conversation persistence failed"));
  expect(lines).toMatchObject([
    { level: "warn", message: `Conversation persistence failed: ${reason}`, fields: { conversationId: id } },
    {
      level: "warn",
      message: `Conversation persistence failed: ${reason}`,
      fields: { conversationId: expect.stringMatching(/^conv_/) },
    },
  ]);
  expect(stderr).toContain(`started ${String(lines[1]?.fields["conversationId"])}\n`);
});

test("--no-persistence answers and writes nothing", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["chat", "--no-persistence", "What is 6 * 7?"])).toMatchObject({
    code: 0,
    stdout: "6 * 7 = 42\n",
  });
  expect(await cli.ids()).toEqual([]);
  expect((await cli.run(["new", "--no-persistence"])).stderr).toContain("Not saved: persistence is off");
  expect(await cli.ids()).toEqual([]);
});

test("--no-persistence reads the active conversation and does not change its file", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "My name is Alice"]);
  const [id = ""] = await cli.ids();
  const { stdout } = await cli.run(["chat", "--no-persistence", "What is my name?"]);
  expect(stdout).toBe("You told me: your name is Alice.\n");
  expect(await cli.said(id)).toEqual(["My name is Alice"]);
});

test("--conversation-dir stores conversations there, with its own active conversation", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "at home"]);
  await cli.run(["chat", "--conversation-dir", "elsewhere", "away"]);
  await cli.run(["chat", "at home again"]);
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["at home", "at home again"]);
  const { stdout } = await cli.run(["list", "--conversation-dir", join(cli.project, "elsewhere")]);
  expect(stdout).toContain("Total: 1 conversation(s)");
});

test("--home overrides CODY_HOME", async () => {
  const cli = await Cli.open();
  await cli.run(["--home", "other", "new"]);
  expect(await cli.ids()).toEqual([]);
  expect((await cli.run(["list", "--home=other"])).stdout).toContain("Total: 1 conversation(s)");
});

test.each([
  ["--provider", "openai", "OPENAI_API_KEY environment variable is required for OpenAI models."],
  ["--model", "gpt-4o", "OPENAI_API_KEY environment variable is required for OpenAI models."],
  ["--provider", "anthropic", "ANTHROPIC_API_KEY environment variable is required."],
  ["--provider", "frobnicate", "Unknown provider 'frobnicate'"],
])("chat %s %s without its requirements reports what is missing and exits with 1", async (flag, value, text) => {
  const cli = await Cli.open();
  const result = await cli.run(["chat", flag, value, "hello"]);
  expect(result).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(text) });
});
