import { appendFile, copyFile, link, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { Cli, finished, saysOn } from "../support/cli.js";
import { openManager } from "../support/open-conversation.js";
import { calls, says, scripted } from "../support/scripted-provider.js";

const secret = "old-s3cret-0123456789";
const env = { DEPLOY_TOKEN: secret };

/** A conversation saved before its secrets were known. */
async function openWithSecrets(): Promise<{ cli: Cli; id: string; path: string }> {
  const cli = await Cli.open();
  const id = (await cli.run(["new", "--name", `about ${secret}`])).stdout.trim();
  await cli.run(["chat", `my name is ${secret}`]);
  await cli.run(["chat", "use AKIAIOSFODNN7EXAMPLE"]);
  return { cli, id, path: join(cli.conversations, `${id}.jsonl`) };
}

async function allFiles(cli: Cli): Promise<string> {
  const names = await readdir(cli.home, { recursive: true, withFileTypes: true });
  const files = names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name));
  return (await Promise.all(files.map((file) => readFile(file, "latin1")))).join("\n");
}

test("scrub without --write reports secrets by line and kind, never their values", async () => {
  const { cli, id, path } = await openWithSecrets();
  const before = await readFile(path);
  const { code, stdout, stderr } = await cli.run(["scrub", id], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^${id}: \\d+ known, \\d+ by shape in \\d+ lines\n {2}line 2: 1 known\n`));
  expect(stdout).toContain("  .names.jsonl: 1 known in 1 line\n");
  expect(stdout).toMatch(new RegExp(`\nNothing was changed. To remove them: cody scrub ${id} --write\n$`));
  expect(stdout).not.toContain(secret);
  expect(await readFile(path)).toEqual(before);
});

test("scrub --write removes them from everything stored, and the conversation continues", async () => {
  const { cli, id, path } = await openWithSecrets();
  await copyFile(path, `${path}.backup-2026-01-01`);
  await writeFile(`${path}.torn-1`, `{"text":"${secret}`);
  await cli.run(["list"]);
  const { code, stdout } = await cli.run(["scrub", id, "--write"], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^✓ Scrubbed ${id}: `));
  expect(stdout).toContain(`  ${basename(path)}.torn-1: 1 known in 1 line\n`);
  const all = await allFiles(cli);
  expect(all).not.toContain(secret);
  expect(all).not.toContain("AKIAIOSFODNN7EXAMPLE");
  expect((await cli.run(["scrub", id], { env })).stdout).toBe(`${id}: no secrets found\n`);
  expect((await cli.run(["list", "--json"])).stdout).toContain('"name":"about [redacted]"');
  expect((await cli.run(["chat", "what's my name?"])).stdout).toContain("[redacted]");
  expect(await cli.run(["doctor"])).toMatchObject({ code: 0 });
});

test("scrub names another hard link of the file, because it still holds the secrets", async () => {
  const { cli, id, path } = await openWithSecrets();
  await link(path, join(cli.project, "kept"));
  const { code, stderr } = await cli.run(["scrub", id, "--write"], { env });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `${path} has another hard link, which still contains the old text.\n`,
  });
});

test("scrub can ignore key-like text and take extra names and values", async () => {
  const { cli, id } = await openWithSecrets();
  await cli.run(["chat", "pin=4711 and correct horse"]);
  expect((await cli.run(["scrub", id, "--no-shapes"])).stdout).toBe(`${id}: no secrets found\n`);
  expect((await cli.run(["scrub", id, "--no-shapes", "--pattern", "pin"])).stdout).toContain("by name");
  const found = await cli.run(["scrub", id, "--stdin", "--write", "--json"], { input: "correct horse\n\n" });
  expect(JSON.parse(found.stdout)).toMatchObject({
    id,
    scrubbed: true,
    found: { known: expect.any(Number), named: 0 },
  });
  expect(await allFiles(cli)).not.toContain("correct horse");
});

test("scrub finds a short value given explicitly", async () => {
  const { cli, id, path } = await openWithSecrets();
  await cli.run(["chat", 'the door is x7"q9, or y8z'], {});
  const found = await cli.run(["scrub", id, "--no-shapes", "--stdin"], { input: 'x7"q9\ny8z\n' });
  expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining("2 known"), stderr: "" });
  await cli.run(["scrub", id, "--no-shapes", "--stdin", "--write"], { input: 'x7"q9\ny8z\n' });
  expect(await readFile(path, "utf8")).toContain("the door is [redacted], or [redacted]");
});

test("scrub reports a line it cannot search and searches the others", async () => {
  const { cli, id } = await openWithSecrets();
  const args = ["scrub", id, "--no-shapes", "--stdin"];
  expect(await cli.run(args, { input: "x7\n" })).toMatchObject({
    code: 1,
    stdout: `${id}: no secrets found\n`,
    stderr: "Not searched for: 1 line of stdin, because it is shorter than 3 characters or part of [redacted]\n",
  });
  const mixed = await cli.run([...args, "--json"], { input: `redact\nx7\n${secret}\n \n` });
  expect(mixed.code).toBe(1);
  expect(JSON.parse(mixed.stdout)).toMatchObject({ notLookedFor: 2, found: { known: expect.any(Number) } });
  expect(JSON.parse(mixed.stdout).found.known).toBeGreaterThan(0);
});

test.each([
  [["--pattern", "(a+)+"], "✗ --pattern '(a+)+': expected a name"],
  [["--write", "--dry-run"], "✗ --write cannot be combined with --dry-run"],
])("%j is a usage error", async (flags, message) => {
  const cli = await Cli.open();
  expect(await cli.run(["scrub", "conv_1", ...flags])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(message),
  });
});

test("scrub does not change a conversation in use", async () => {
  const { cli, id, path } = await openWithSecrets();
  const child = cli.start(["chat", "hello"], { middle: "hold" });
  await saysOn(child.stdout, "");
  const before = await readFile(path);
  const { code, stderr } = await cli.run(["scrub", id, "--write"], { env });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`Conversation '${id}' is in use by`) });
  expect((await readFile(path)).subarray(0, before.length)).toEqual(before);
  child.kill("SIGTERM");
  await finished(child);
});

test("scrub keeps lines about other conversations in the names file", async () => {
  const { cli, id } = await openWithSecrets();
  await appendFile(join(cli.conversations, ".names.jsonl"), `{"id":"other","thread_name":"${secret}"}\n`);
  await cli.run(["scrub", id, "--write"], { env });
  const names = (await readFile(join(cli.conversations, ".names.jsonl"), "utf8")).trimEnd().split("\n");
  expect(names[1]).toBe(`{"id":"other","thread_name":"${secret}"}`);
});

test("scrub searches the prompt history of all conversations, and cleans it", async () => {
  const { cli, id } = await openWithSecrets();
  const history = join(cli.home, "prompt-history.jsonl");
  const kept = `{"timestamp":"2026-01-02T00:00:00.000Z","text":"tell me more"}\n`;
  await writeFile(history, `{"timestamp":"2026-01-01T00:00:00.000Z","text":"deploy with ${secret}"}\n${kept}`);
  expect((await cli.run(["scrub", id], { env })).stdout).toContain("  prompt-history.jsonl: 1 known in 1 line\n");
  expect(await readFile(history, "utf8")).toContain(secret);
  const { code, stdout } = await cli.run(["scrub", id, "--write"], { env });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("  prompt-history.jsonl: 1 known in 1 line\n"),
  });
  const first = `{"timestamp":"2026-01-01T00:00:00.000Z","text":"deploy with [redacted]"}\n`;
  expect(await readFile(history, "utf8")).toBe(first + kept);
  expect((await readdir(cli.home)).filter((name) => name.startsWith("prompt-history"))).toEqual([
    "prompt-history.jsonl",
  ]);
  expect((await cli.run(["scrub", id], { env })).stdout).toBe(`${id}: no secrets found\n`);
});

/** The first turn removes a secret from a file, the second changes another file, the third many files. */
async function openWithChangedFiles() {
  const cli = await Cli.open();
  const cwd = join(cli.project, "work");
  await mkdir(cwd);
  await writeFile(join(cwd, "config.txt"), `token ${secret}\n`);
  await writeFile(join(cwd, "other.txt"), "one\n");
  const scripts = [
    "printf 'token from the environment\\n' > config.txt",
    "printf 'two\\n' > other.txt",
    `for number in $(seq 40); do echo "file $number" > "$number.txt"; done; printf '%s' '${secret}' > 7.txt`,
  ];
  const replies = scripts.flatMap((script, index) => [
    calls("shell", `c${index}`, { command: ["sh", "-c", script] }),
    says("Done."),
  ]);
  const provider = scripted(replies);
  const config = { provider: provider.name, sandbox: "danger-full-access" } as const;
  const { PATH } = process.env;
  const { manager } = await openManager({ home: cli.home, cwd, config, providers: [provider], env: { PATH } });
  const { conversation, conversationId: id } = await manager.newConversation({ model: "scripted" });
  for (const text of ["first", "second", "third"]) await conversation.processMessage(text);
  await manager.shutdown();
  const cody = (...args: string[]) => cli.run(args, { cwd, env });
  return { cli, id, cwd, cody };
}

test("scrub searches the stored versions of changed files and removes those with a secret", async () => {
  const { cli, id, cwd, cody } = await openWithChangedFiles();
  const looked = await cody("scrub", id);
  expect(looked.stdout).toContain("  stored version of config.txt: 1 known; the whole version is removed\n");
  expect(looked.stdout).toContain("  stored version of 7.txt: 1 known; the whole version is removed\n");
  expect(looked.stdout).toContain("  Then it can no longer be undone: turn 1\n");
  expect(await allFiles(cli)).toContain(secret);
  const { code, stdout } = await cody("scrub", id, "--write");
  expect(code).toBe(0);
  expect(stdout).toContain("and 2 stored files\n");
  expect(stdout).toContain("  Can no longer be undone: turn 1\n");
  expect(await allFiles(cli)).not.toContain(secret);
  expect((await cody("scrub", id)).stdout).toBe(`${id}: no secrets found\n`);
  expect((await cody("undo", id, "--turn", "1")).stdout).toContain("its saved content is gone");
  expect(await cody("undo", id, "--turn", "3", "--yes")).toMatchObject({ code: 0 });
  expect(await cody("undo", id, "--turn", "2", "--yes")).toMatchObject({ code: 0 });
  expect(await readFile(join(cwd, "other.txt"), "utf8")).toBe("one\n");
  expect((await readdir(cwd)).toSorted()).toEqual(["config.txt", "other.txt"]);
});
