import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../../support/cli.js";
import { FakeTerminal } from "../../support/cli-terminal.js";
import { pathWithSandbox } from "../../support/fake-sandbox.js";
import { calls, says, scripted } from "../../support/scripted-provider.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { mockLlm, wireEnv } from "../../support/wire-apis.js";

const inFull = ["--sandbox", "danger-full-access"];

function events(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("stdout is only the last answer; what happened before it is on stderr", async () => {
  const replies = [
    [...says("I look first.").slice(0, 3), ...calls("shell", "call-1", { command: "echo seen" })],
    says("It is 42."),
  ];
  const terminal = await FakeTerminal.open(scripted(replies), { notTTY: ["stdin", "stdout", "stderr"] });
  expect(await terminal.run("exec", "how much?", "--no-stdin", ...inFull)).toBe(0);
  expect(terminal.screen).toBe("It is 42.\n");
  expect(terminal.errors).toContain("I look first.");
  expect(terminal.errors).toContain("seen");
});

test("--quiet leaves stderr to problems, and -o writes the answer to a file too", async () => {
  const terminal = await FakeTerminal.open(
    scripted([calls("shell", "call-1", { command: "echo seen" }), says("Done.")]),
    {
      notTTY: ["stdin", "stdout", "stderr"],
    },
  );
  expect(await terminal.run("exec", "do it", "--no-stdin", "-q", "-o", "answer.txt", ...inFull)).toBe(0);
  expect({ stdout: terminal.screen, stderr: terminal.errors }).toEqual({ stdout: "Done.\n", stderr: "" });
  expect(await readFile(join(terminal.cwd, "answer.txt"), "utf8")).toBe("Done.");
});

test.each([
  ["no/answer.txt", "there is no folder"],
  [".", "it is a folder"],
  ["file/answer.txt", ""],
])("-o %s is refused before anything is sent", async (file, reason) => {
  const provider = scripted([]);
  const terminal = await FakeTerminal.open(provider, { notTTY: ["stdin", "stdout", "stderr"] });
  await writeFile(join(terminal.cwd, "file"), "");
  expect(await terminal.run("exec", "do it", "--no-stdin", "-o", file)).toBe(2);
  expect(terminal.errors).toContain(`--output ${join(terminal.cwd, file)}: cannot write the answer: ${reason}`);
  expect(terminal.errors).toContain("Nothing was sent");
  expect(provider.requests).toEqual([]);
});

test("without arguments, and for a dash, stdin is the prompt", async () => {
  const cli = await Cli.open();
  const env = wireEnv(await mockLlm());
  const noted = { code: 0, stdout: "Noted: your name is Ada.\n" };
  expect(await cli.run(["exec"], { input: "my name is Ada\n", env })).toMatchObject(noted);
  expect(await cli.run(["exec", "-"], { input: "my name is Ada\n", env })).toMatchObject(noted);
});

test("exec resume continues a conversation by id, and --last the newest one of the project", async () => {
  const mock = await mockLlm();
  const cli = await Cli.open();
  const env = wireEnv(mock);
  const { stdout } = await cli.run(["exec", "--json", "my name is Ada"], { env });
  const [started] = events(stdout);
  const id = String(started?.["thread_id"]);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const again = await cli.run(["exec", "resume", id, "what is my name?"], { env });
  expect(again).toMatchObject({ code: 0, stdout: "You told me: your name is Ada.\n" });
  expect(await cli.run(["exec", "resume", "--last", "what is my name?"], { env })).toMatchObject({
    code: 0,
    stdout: again.stdout,
  });
  expect(await cli.run(["-p", "-r", id, "what is my name?"], { env })).toMatchObject({ stdout: again.stdout });
  expect(await cli.run(["-p", "-c", "what is my name?"], { env })).toMatchObject({ stdout: again.stdout });
  expect(await cli.ids()).toHaveLength(1);
});

test("a conversation that was interrupted before its first turn can be continued", async () => {
  const cli = await Cli.open();
  const env = wireEnv(await mockLlm());
  const id = (await cli.run(["new"], { env })).stdout.trim();
  expect(await cli.run(["exec", "resume", id, "my name is Ada"], { env })).toMatchObject({
    code: 0,
    stdout: "Noted: your name is Ada.\n",
  });
  expect(await cli.ids()).toEqual([id]);
});

test("an unknown conversation is an error on stderr, with nothing on stdout", async () => {
  const cli = await Cli.open();
  const env = wireEnv(await mockLlm());
  const result = await cli.run(["exec", "--json", "resume", "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0001", "hi"], { env });
  expect(result).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("not found") });
});

test("without a key, exec fails instead of answering with the offline model", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["exec", "hello"]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("OPENAI_API_KEY");
  expect(await cli.ids()).toEqual([]);
  expect(await cli.run(["exec", "What is 2+2?", "--provider", "offline"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("4"),
  });
});

test("the key may come in CODEX_API_KEY, as programs for Codex pass it", async () => {
  const mock = await mockLlm();
  const cli = await Cli.open();
  const { OPENAI_API_KEY = "", OPENAI_BASE_URL = "" } = wireEnv(mock);
  const env = { CODEX_API_KEY: OPENAI_API_KEY };
  const args = ["exec", "hello", "--experimental-json", "--config", `openai_base_url="${OPENAI_BASE_URL}"`];
  expect(await cli.run(args, { env })).toMatchObject({ code: 0 });
  expect(mock.requests.map(({ status }) => status)).toEqual([200]);
});

test.each([
  ["nothing to send", ["exec", "--no-stdin"], "the prompt is empty"],
  ["a broken override", ["exec", "hi", "--config", "model"], "expected <key>=<value>"],
  ["an invalid value", ["exec", "hi", "--config", "sandbox_mode=open"], "--config sandbox"],
  ["no id", ["exec", "resume"], "Missing argument: id"],
  ["two choices", ["exec", "resume", "--last", "-c", "hi"], "only once"],
  ["--full-auto with a sandbox", ["exec", "hi", "--full-auto", "--sandbox", "read-only"], "cannot be combined"],
  ["a folder that does not exist", ["exec", "hi", "--cd", "nowhere"], "--cd nowhere"],
  ["a further folder that does not exist", ["exec", "hi", "--add-dir", "nowhere"], "--add-dir nowhere"],
])("%s is a usage error", async (_name, args, reason) => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(args, { env: wireEnv(await mockLlm()) });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(reason);
  expect(await cli.ids()).toEqual([]);
});

test("a refused call is reported as declined, and the run succeeds", async () => {
  const replies = [calls("shell", "call-1", { command: "touch made" }), says("I could not.")];
  const terminal = await FakeTerminal.open(scripted(replies), { notTTY: ["stdin", "stdout", "stderr"] });
  expect(await terminal.run("exec", "make it", "--no-stdin", "--json", "--sandbox", "read-only")).toBe(0);
  const items = events(terminal.screen).map(({ item }) => item);
  expect(items).toContainEqual(
    expect.objectContaining({
      type: "command_execution",
      command: "sh -c 'touch made'",
      status: "declined",
      exit_code: -1,
    }),
  );
});

test("a call that needs approval ends with exit code 3, because nobody can be asked", async () => {
  const replies = [calls("shell", "call-1", { command: "touch made" }), says("I could not.")];
  const terminal = await FakeTerminal.open(scripted(replies), { notTTY: ["stdin", "stdout", "stderr"] });
  const code = await terminal.run("exec", "make it", "--no-stdin", "--approval-policy", "untrusted", ...inFull);
  expect({ code, stdout: terminal.screen }).toEqual({ code: 3, stdout: "I could not.\n" });
});

test("a limit ends with exit code 4", async () => {
  const loop = Array.from({ length: 3 }, (_, index) => calls("shell", `call-${index}`, { command: `echo ${index}` }));
  const terminal = await FakeTerminal.open(scripted(loop), { notTTY: ["stdin", "stdout", "stderr"] });
  const code = await terminal.run("exec", "loop", "--no-stdin", "--max-turns", "2", ...inFull);
  expect({ code, errors: terminal.errors }).toEqual({ code: 4, errors: expect.stringContaining("limit of 2 steps") });
});

test("--max-cost limits what the turn may cost", async () => {
  const mock = await mockLlm([
    { calls: [{ name: "read_file", arguments: { path: "a" } }], usage: { input_tokens: 1_000_000 } },
    { text: "never asked" },
  ]);
  const cli = await Cli.open();
  const { code, stderr } = await cli.run(["exec", "read", "--model", "gpt-4o", "--max-cost", "0.5"], {
    env: wireEnv(mock),
  });
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("turnLimits.cost") });
  expect(mock.requests).toHaveLength(1);
});

test("images are attached", async () => {
  const mock = await mockLlm();
  const cli = await Cli.open();
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await writeFile(join(cli.project, "dot.png"), Buffer.from(png, "base64"));
  expect(await cli.run(["exec", "what is this?", "-i", "dot.png"], { env: wireEnv(mock) })).toMatchObject({ code: 0 });
  expect(JSON.stringify(mock.requests[0]?.body)).toContain("input_image");
});

test("--cd runs as if started in another folder", async () => {
  const cli = await Cli.open();
  const other = await Cli.open();
  const { stdout } = await cli.run(["exec", "where?", "--json", "--cd", other.project], {
    env: wireEnv(await mockLlm()),
  });
  expect(events(stdout)).not.toEqual([]);
  const [id = ""] = await cli.ids();
  expect(await readFile(join(cli.conversations, `${id}.jsonl`), "utf8")).toContain(`"cwd":"${other.project}"`);
});

test("--add-dir lets tools write in further folders", async () => {
  const [other, forbidden] = [await temporaryFolder(), await temporaryFolder()];
  const writes = [other, forbidden].map((folder, index) =>
    calls("write_file", `call-${index}`, { path: join(folder, "a.txt"), content: "seen" }),
  );
  const replies = [...writes, says("Done.")];
  const terminal = await FakeTerminal.open(scripted(replies), { env: { PATH: pathWithSandbox } });
  expect(await terminal.run("exec", "write", "--no-stdin", "--full-auto", "--add-dir", other)).toBe(0);
  expect(await readFile(join(other, "a.txt"), "utf8")).toBe("seen");
  expect(await readdir(forbidden)).toEqual([]);
});
