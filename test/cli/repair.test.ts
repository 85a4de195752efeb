import { mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { Cli, saysOn } from "../support/cli.js";
import { putCodexRollouts } from "../support/codex-home.js";

/** A conversation with two messages, and its file. */
async function openWithTwoMessages(): Promise<{ cli: Cli; id: string; path: string; lines: string[] }> {
  const cli = await Cli.open();
  await cli.run(["chat", "my name is Alice"]);
  await cli.run(["chat", "What is 2+2?"]);
  const [id = ""] = await cli.ids();
  const path = join(cli.conversations, `${id}.jsonl`);
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  return { cli, id, path, lines };
}

async function writeLines(path: string, lines: readonly (string | Buffer)[]): Promise<void> {
  await writeFile(path, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from("\n")])));
}

test("an intact conversation needs no repair", async () => {
  const { cli, id, path, lines } = await openWithTwoMessages();
  const before = await readFile(path);
  const text = `${id}: no damage found\n  Content: 2 turns, 4 items\n`;
  expect(lines.length).toBeGreaterThan(10);
  for (const flags of [[], ["--write"]]) {
    expect(await cli.run(["repair", id, ...flags])).toEqual({ code: 0, signal: null, stdout: text, stderr: "" });
  }
  expect(await readFile(path)).toEqual(before);
  expect(await readdir(cli.conversations)).toEqual([basename(path)]);
});

test("repair without --write only prints what it would do", async () => {
  const { cli, id, path, lines } = await openWithTwoMessages();
  await writeLines(path, [...lines.slice(0, 2), "sk-secret", ...lines.slice(2), Buffer.alloc(12)]);
  const before = await readFile(path);
  const { code, stdout, stderr } = await cli.run(["repair", id]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe(`${id}: 2 of ${lines.length + 2} lines are damaged
  line 3: 9 bytes, not valid JSON: Unexpected token 's'
  line ${lines.length + 2}: 12 bytes, contains NUL bytes
  Remaining: 2 turns, 4 items
Nothing was changed. To repair it: cody repair ${id} --write
`);
  expect(await readFile(path)).toEqual(before);
  expect(await readdir(cli.conversations)).toEqual([basename(path)]);
});

test("repair --write makes the conversation usable and keeps the original", async () => {
  const { cli, id, path, lines } = await openWithTwoMessages();
  await writeLines(path, [...lines.slice(0, 2), "sk-secret", ...lines.slice(2)]);
  const original = await readFile(path);
  expect((await cli.run(["chat", "What's my name?"])).stderr).toContain(`  Preview a repair: cody repair ${id}\n`);
  const { code, stdout } = await cli.run(["repair", id, "--write"]);
  const [, backup = ""] = (await readdir(cli.conversations)).toSorted();
  expect(code).toBe(0);
  expect(stdout).toBe(`✓ Repaired ${id}: 1 of ${lines.length + 1} lines was removed
  line 3: 9 bytes, not valid JSON: Unexpected token 's'
  Remaining: 2 turns, 4 items
  The original is kept in ${join(cli.conversations, backup)}
`);
  expect(backup.startsWith(`${basename(path)}.backup-`)).toBe(true);
  expect(await readFile(join(cli.conversations, backup))).toEqual(original);
  expect(await readFile(path, "utf8")).toBe(`${lines.join("\n")}\n`);
  for (const name of await readdir(cli.conversations)) {
    expect((await stat(join(cli.conversations, name))).mode & 0o777).toBe(0o600);
  }
  expect((await cli.run(["repair", id, "--write"])).stdout).toContain("no damage found");
  expect((await cli.run(["list"])).stdout).not.toContain("damaged");
  expect((await cli.run(["resume", id])).code).toBe(0);
  expect((await cli.run(["chat", "What's my name?"])).stdout).toContain("Alice");
});

test("repair recreates a lost first line and fixes the end", async () => {
  const { cli, id, path, lines } = await openWithTwoMessages();
  await writeLines(path, ["", "{", ...lines.slice(1)]);
  const { size } = await stat(path);
  await truncate(path, size - 1);
  const { stdout } = await cli.run(["repair", id]);
  expect(stdout).toContain(`  line 2: 1 byte, not valid JSON: Expected property name or '}' in JSON at position 1
  The first line, which identifies the conversation, is missing: it is rebuilt from the other lines
  The last line has no newline: one is added
  Remaining: 2 turns, 4 items
`);
  await cli.run(["repair", id, "--write"]);
  expect((await cli.run(["list", "--json"])).stdout).toContain('"provider":"offline"');
  expect((await cli.run(["chat", "What's my name?"])).stdout).toContain("Alice");
});

test("repair --json prints the same in one line", async () => {
  const { cli, id, path, lines } = await openWithTwoMessages();
  await writeLines(path, [...lines, "broken", (lines[1] ?? "").slice(0, 20) + lines[1]]);
  const notJson = "not valid JSON: Expected ',' or '}' after property value in JSON at position 22";
  const facts = {
    id,
    path,
    lines: lines.length + 2,
    damagedLines: 2,
    rescuedLines: 1,
    damaged: [
      { line: lines.length + 1, bytes: 6, reason: "not valid JSON: Unexpected token 'b'", rescued: 0 },
      { line: lines.length + 2, bytes: 20 + (lines[1] ?? "").length, reason: notJson, rescued: 1 },
    ],
    newlineMissing: false,
    firstLineMade: false,
    unknownLines: 0,
    beginning: null,
  };
  const dry = await cli.run(["repair", id, "--json"]);
  expect(JSON.parse(dry.stdout)).toMatchObject({ ...facts, repaired: false, backup: null });
  const { repaired, backup } = JSON.parse((await cli.run(["repair", id, "--write", "--json"])).stdout) as {
    repaired: boolean;
    backup: string;
  };
  expect(repaired).toBe(true);
  expect(await readdir(cli.conversations)).toContain(basename(backup));
  const again = JSON.parse((await cli.run(["repair", id, "--write", "--json"])).stdout) as object;
  expect(again).toMatchObject({ damagedLines: 0, damaged: [], repaired: false, backup: null });
});

test("repair shows only the first of many damaged lines", async () => {
  const { cli, id, path, lines } = await openWithTwoMessages();
  await writeLines(path, [...lines, ...Array.from({ length: 500 }, () => "x")]);
  const { stdout } = await cli.run(["repair", id]);
  expect(stdout).toContain("  and 480 more\n");
  expect(stdout.split("\n").length).toBeLessThan(30);
});

test.each(["conv_nobody", "../../etc/passwd", "/etc/passwd.jsonl", "a b"])(
  "repair reports an unknown conversation: %j",
  async (id) => {
    const cli = await Cli.open();
    expect(await cli.run(["repair", id, "--write"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `✗ Conversation '${id}' not found\n  List available: cody list\n`,
    });
  },
);

test("repair needs exactly one id", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["repair"])).toMatchObject({ code: 2, stderr: expect.stringContaining("Missing argument: id") });
  expect(await cli.run(["repair", "a", "b"])).toMatchObject({ code: 2 });
  expect(await cli.run(["list", "--write"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--write") });
});

test("a conversation in use is examined but not repaired", async () => {
  const { cli, id, path } = await openWithTwoMessages();
  const other = cli.start(["chat", "wait"], { middle: "hold" });
  await saysOn(other.stdout, "I am");
  await writeFile(path, "broken\n", { flag: "a" });
  const before = await readFile(path);
  expect(await cli.run(["repair", id, "--write"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `✗ Conversation '${id}' is in use by pid ${other.pid}\n`,
  });
  expect(await readFile(path)).toEqual(before);
  const looked = await cli.run(["repair", id]);
  expect(looked.code).toBe(0);
  expect(looked.stdout).toContain("not valid JSON");
  expect(looked.stderr).toBe(`The conversation is in use by pid ${other.pid}, which may be writing its last line\n`);
});

test("a file another machine may be writing is repaired only with --force", async () => {
  const { cli, id, path } = await openWithTwoMessages();
  await writeFile(path, "broken\n", { flag: "a" });
  const owner = { token: "0".repeat(32), pid: 7, host: "elsewhere", bootId: "b", pidNamespace: "p", socket: "/tmp/s" };
  await writeFile(`${path}.lock`, JSON.stringify(owner));
  expect((await cli.run(["repair", id, "--write"])).stderr).toBe(
    `✗ Conversation '${id}' is in use by pid 7 on another machine\n` +
      `  If no other cody is using it: cody repair ${id} --write --force\n`,
  );
  expect((await cli.run(["repair", id, "--write", "--force"])).code).toBe(0);
  expect((await cli.run(["repair", id])).stdout).toContain("no damage found");
  expect(await readdir(cli.conversations)).not.toContain(`${id}.jsonl.lock`);
});

test("repair refuses anything but a regular file and does not change it", async () => {
  const { cli, path } = await openWithTwoMessages();
  await symlink(path, join(cli.conversations, "conv_linked.jsonl"));
  await mkdir(join(cli.conversations, "conv_folder.jsonl"));
  for (const id of ["conv_linked", "conv_folder"]) {
    const { code, stdout, stderr } = await cli.run(["repair", id, "--write"]);
    expect({ code, stdout }).toEqual({ code: expect.any(Number), stdout: "" });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/not a regular file|not found/);
  }
});

test("repair accepts the path of a rollout, and --codex finds Codex's", async () => {
  const cli = await Cli.open();
  const codex = join(cli.project, ".codex");
  const [rollout] = await putCodexRollouts(codex, "v0.58.0/simple");
  const path = rollout?.path ?? "";
  const before = await readFile(path, "utf8");
  await writeFile(path, before.replace("\n", "\nbroken\n"));
  expect((await cli.run(["repair", path])).stdout).toContain("line 2: 6 bytes, not valid JSON");
  const { code, stdout } = await cli.run(["repair", "--codex", rollout?.id ?? "", "--write"]);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ Repaired") });
  expect(await readFile(path, "utf8")).toBe(before);
  // Old Codex accepts any file whose name contains the id.
  const uuid = (rollout?.id ?? "").slice("conv_".length);
  const names = await readdir(codex, { recursive: true });
  expect(names.filter((name) => name.includes(uuid))).toHaveLength(1);
  expect(names.filter((name) => name.includes(".backup-"))).toHaveLength(1);
});

test("repair reports a missing base rollout, which repairing this file does not fix", async () => {
  const { cli, id, path, lines } = await openWithTwoMessages();
  const first = JSON.parse(lines[0] ?? "") as { payload: object };
  const base = { thread_id: "01a1e1d9-0000-7000-8000-000000000001", end_ordinal_exclusive: 1, end_byte_offset: 10 };
  await writeLines(path, [JSON.stringify({ ...first, payload: { ...first.payload, history_base: base } }), "broken"]);
  const { code, stderr } = await cli.run(["repair", id]);
  expect(code).toBe(1);
  expect(stderr).toContain("its history starts in another rollout, which is missing");
});
