import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Cli, type CliResult } from "../support/cli.js";
import { writeLargeRollout } from "../support/large-rollout.js";

async function withConversation(): Promise<{ cli: Cli; id: string }> {
  const cli = await Cli.open();
  await cli.run(["chat", "my name is Alice"]);
  const [id = ""] = await cli.ids();
  return { cli, id };
}

function fileOf({ stdout }: CliResult): string {
  return /^ {2}File: (.+)$/m.exec(stdout)?.[1] ?? "";
}

const downloads = (cli: Cli): string => join(cli.project, "Downloads");

test("export writes the active conversation to the downloads folder, readable by its owner only, with a descriptive name", async () => {
  const { cli, id } = await withConversation();
  const result = await cli.run(["export"]);
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining(`✓ Exported conversation: ${id}\n`) });
  const path = fileOf(result);
  expect(path).toMatch(/\/Downloads\/cody-\d{4}-\d\d-\d\d-my-name-is-alice-[0-9a-f]{8}\.md$/);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, "utf8")).toContain("> my name is Alice\n\n**Assistant**\n\nNoted: your name is Alice.");
});

test("export overwrites no file and leaves no temporary file", async () => {
  const { cli, id } = await withConversation();
  const first = fileOf(await cli.run(["export", id.slice(0, 30), "--format", "json"]));
  await writeFile(first, "mine");
  const second = fileOf(await cli.run(["export", id, "--format", "json"]));
  expect(second).toBe(first.replace(/\.json$/, "-2.json"));
  expect(await readFile(first, "utf8")).toBe("mine");
  expect(await readdir(downloads(cli))).toHaveLength(2);
});

test("an export for Codex keeps a file name Codex recognizes, even when one exists already", async () => {
  const { cli } = await withConversation();
  await cli.run(["export", "--format", "codex"]);
  await cli.run(["export", "--format", "codex"]);
  const names = await readdir(downloads(cli));
  expect(names).toHaveLength(2);
  for (const name of names) expect(name).toMatch(/^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f-]{36}\.jsonl$/);
});

test("the export directory comes from the configuration", async () => {
  const { cli } = await withConversation();
  await cli.run(["config", "set", "export.directory", "~/kept/here"]);
  expect(fileOf(await cli.run(["export"]))).toMatch(join(cli.project, "kept/here/cody-"));
  await cli.run(["config", "set", "export.directory", "kept"]);
  expect(fileOf(await cli.run(["export"]))).toMatch(join(cli.home, "kept/cody-"));
  await writeFile(join(cli.home, "config.json"), JSON.stringify({ persistence: { exportDirectory: "/nowhere" } }));
  expect((await cli.run(["config", "get", "export.directory"])).stdout).toBe("/nowhere\n");
});

test.each([
  ['XDG_DOWNLOAD_DIR="$HOME/Laden"', "Laden"],
  ['XDG_DOWNLOAD_DIR="/srv/x"\n# XDG_DOWNLOAD_DIR="$HOME/no"\nXDG_DOWNLOAD_DIR="$HOME/a \\"b\\""', 'a "b"'],
  ['XDG_DOWNLOAD_DIR="$HOME/"', "Downloads"],
  ["XDG_DOWNLOAD_DIR=elsewhere", "Downloads"],
])("the downloads folder is the one of the desktop: %s", async (line, folder) => {
  const { cli } = await withConversation();
  await mkdir(join(cli.project, ".config"));
  await writeFile(join(cli.project, ".config", "user-dirs.dirs"), `# written by xdg-user-dirs\n${line}\n`);
  expect(fileOf(await cli.run(["export"]))).toMatch(join(cli.project, folder, "cody-"));
});

test("export --output accepts a file or stdout, does not overwrite, and rejects a directory", async () => {
  const { cli } = await withConversation();
  const path = join(cli.project, "mine.html");
  expect(await cli.run(["export", "--format", "html", "--output", "mine.html"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`File: ${path}\n`),
  });
  expect(await cli.run(["export", "--output", "mine.html"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("already exists. Exports do not overwrite files"),
  });
  expect(await readFile(path, "utf8")).toMatch(/^<!doctype html>/);
  expect(await cli.run(["export", "--output", "."])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is a directory"),
  });
  const { stdout } = await cli.run(["export", "--output", "-"]);
  expect(stdout).toMatch(/^# my name is Alice\n/);
  await expect(stat(downloads(cli))).rejects.toThrow("ENOENT");
});

test("export --all exports every conversation of the project except empty ones", async () => {
  const { cli, id } = await withConversation();
  await cli.run(["new"]);
  await cli.run(["chat", "--provider", "offline", "hello"]);
  const broken = "conv_01932d4c-89ab-7890-abcd-000000000001";
  const [first = ""] = (await readFile(join(cli.conversations, `${id}.jsonl`), "utf8")).split("\n", 1);
  const user = '{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"x"}}';
  const text = `${first.replaceAll(id.slice("conv_".length), broken.slice("conv_".length))}\n${user}\n{"half\n${first}\n`;
  await writeFile(join(cli.conversations, `${broken}.jsonl`), text, { mode: 0o600 });
  await cli.run(["new"]);
  const { code, stdout } = await cli.run(["export", "--all", "--format", "json"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✓ Exported 2 conversation\(s\)\n(?: {2}\/.+\n){2}✗ Not exported: 1\n/);
  expect(stdout).toContain("has corrupted data");
  expect(await readdir(downloads(cli))).toHaveLength(2);
  expect(await cli.run(["export", "--all", id])).toMatchObject({ code: 2 });
});

test("a damaged conversation leaves no partial export, and a torn last line is skipped", async () => {
  const { cli, id } = await withConversation();
  const path = join(cli.conversations, `${id}.jsonl`);
  const text = await readFile(path, "utf8");
  await writeFile(path, `${text}{"torn`);
  expect(await cli.run(["export", id])).toMatchObject({ code: 0 });
  await writeFile(path, `${text}{"damaged\n${text.split("\n", 1)[0]}\n`);
  expect(await cli.run(["export", id, "--format", "html"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("has corrupted data"),
  });
  expect(await cli.run(["export", id, "--output", "-"])).toMatchObject({ code: 1, stdout: "" });
  expect(await readdir(downloads(cli))).toHaveLength(1);
});

test("a slow reader gets every byte of a large export", async () => {
  const cli = await Cli.open();
  const id = "conv_01932d4c-89ab-7890-abcd-123456789abc";
  await mkdir(cli.conversations, { recursive: true, mode: 0o700 });
  await writeLargeRollout(join(cli.conversations, `${id}.jsonl`), id, 3_000_000);
  const whole = await cli.run(["export", id, "--format", "codex", "--output", "whole.jsonl"]);
  expect(whole.code).toBe(0);
  const child = cli.start(["export", id, "--format", "codex", "--output", "-"]);
  child.stdin.end();
  let bytes = 0;
  for await (const chunk of child.stdout) {
    bytes += (chunk as Buffer).length;
    // The writer is always ahead of its reader.
    await setImmediate();
  }
  expect(bytes).toBe((await stat(join(cli.project, "whole.jsonl"))).size);
});

test.each(["codex", "html"])("exporting a large conversation holds one turn in memory: %s", async (format) => {
  const cli = await Cli.open();
  const id = "conv_01932d4c-89ab-7890-abcd-123456789abc";
  await mkdir(cli.conversations, { recursive: true, mode: 0o700 });
  await writeLargeRollout(join(cli.conversations, `${id}.jsonl`), id, 20_000_000);
  // Too little memory for all lines at once.
  const env = { NODE_OPTIONS: "--max-old-space-size=56" };
  expect(await cli.run(["export", id, "--format", format, "--output", "a"], { env })).toMatchObject({ code: 0 });
});

test("export reports usage errors", async () => {
  const { cli } = await withConversation();
  expect(await cli.run(["export", "--format", "pdf"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Formats: markdown, html, json, codex, envoy, diligent"),
  });
  expect(await cli.run(["export", "nobody"])).toMatchObject({ code: 1, stderr: expect.stringContaining("not found") });
  expect(await cli.run(["export", "--no-persistence"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "Nothing was exported: persistence is off, so no conversation is saved\n",
  });
});

test("export reports a directory it cannot write to and does not change the conversation", async () => {
  const { cli, id } = await withConversation();
  const before = await readFile(join(cli.conversations, `${id}.jsonl`), "utf8");
  await writeFile(downloads(cli), "a file in the way");
  await chmod(downloads(cli), 0o600);
  expect(await cli.run(["export"])).toMatchObject({ code: 1, stderr: expect.stringContaining("Cannot write to") });
  expect(await readFile(join(cli.conversations, `${id}.jsonl`), "utf8")).toBe(before);
});

test("export --json prints the path of the file", async () => {
  const { cli, id } = await withConversation();
  const { stdout } = await cli.run(["export", "--json", "--format", "envoy"]);
  const { path, bytes, ...rest } = JSON.parse(stdout) as { path: string; bytes: number };
  expect(rest).toEqual({ id, format: "envoy", left: {} });
  expect((await stat(path)).size).toBe(bytes);
});

test("export reports what the format cannot represent", async () => {
  const { cli, id } = await withConversation();
  const path = join(cli.conversations, `${id}.jsonl`);
  const ghost = { type: "ghost_snapshot", ghost_commit: { id: "abc" } };
  const line = JSON.stringify({ timestamp: "2026-11-16T00:00:00.000Z", type: "response_item", payload: ghost });
  await writeFile(path, `${await readFile(path, "utf8")}${line}\n`);
  expect(await cli.run(["export", id, "--format", "envoy"])).toMatchObject({
    code: 0,
    stderr: "Left out, because the format envoy cannot represent it: 1 × ghost_snapshot\n",
  });
});

test("the prompt exports this conversation, another one, or all", async () => {
  const { cli, id } = await withConversation();
  const lines = [
    "/export",
    "I am Bob",
    "/export",
    "/export html",
    `/export ${id} json`,
    "/export nobody",
    "/export-all pdf",
    "/export-all codex",
  ];
  const { code, stdout } = await cli.run([], { input: `${lines.join("\n")}\n` });
  expect(code).toBe(0);
  expect(stdout).toContain("This conversation has no messages yet.");
  expect(stdout).toContain("Conversation 'nobody' not found");
  expect(stdout).toContain("Unknown format 'pdf'");
  expect(stdout).toContain("✓ Exported 2 conversation(s)");
  const endings = (await readdir(downloads(cli))).map((name) => name.replace(/^(cody|rollout)-.*\./, "$1 ")).toSorted();
  expect(endings).toEqual(["cody html", "cody json", "cody md", "rollout jsonl", "rollout jsonl"]);
});

test("without persistence the prompt says that there is nothing to export", async () => {
  const cli = await Cli.open();
  const { code, stdout } = await cli.run(["--no-persistence"], { input: "hello\n/export\n/export-all\n" });
  expect(code).toBe(0);
  expect(stdout.match(/Nothing was exported: persistence is off/g)).toHaveLength(2);
  await expect(stat(downloads(cli))).rejects.toThrow("ENOENT");
});

test("export --all names the conversations it cannot read, each with its error", async () => {
  const { cli, id } = await withConversation();
  const [garbage, nowhere] = ["conv_01932d4c-89ab-7890-abcd-000000000001", "conv_01932d4c-89ab-7890-abcd-000000000002"];
  await writeFile(join(cli.conversations, `${garbage}.jsonl`), "garbage\n", { mode: 0o600 });
  await symlink(join(cli.project, "missing"), join(cli.conversations, `${nowhere}.jsonl`));
  const { code, stdout } = await cli.run(["export", "--all"]);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^✓ Exported 1 conversation\(s\)\n {2}\/.+\n✗ Cannot read 2: conv_.+, conv_.+\n$/),
  });
  const path = join(cli.conversations, `${id}.jsonl`);
  const text = await readFile(path, "utf8");
  await writeFile(path, `${text}{"damaged\n${text.split("\n", 1)[0]}\n`);
  const failing = await cli.run(["export", "--all"]);
  expect(failing.stdout).toMatch(
    `Nothing was exported\n✗ Not exported: 1\n  ${id}: Conversation '${id}' has corrupted`,
  );
  const { stdout: json } = await cli.run(["export", "--all", "--json"]);
  const result = JSON.parse(json) as { unreadable: string[] };
  expect({ ...result, unreadable: result.unreadable.toSorted() }).toEqual({
    exported: [],
    failed: [{ id, reason: expect.stringMatching(/^Conversation '.* has corrupted data; /) }],
    unreadable: [garbage, nowhere],
  });
});

test("export reports an unwritable directory and how to choose another", async () => {
  const { cli } = await withConversation();
  await writeFile(downloads(cli), "a file");
  const hint = "  Choose another directory: cody config set export.directory PATH, or --output FILE\n";
  expect(await cli.run(["export"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `✗ Cannot write to ${downloads(cli)}: part of the path is a file, not a directory\n${hint}`,
  });
  expect(await cli.run(["export", "--output", "Downloads/deep/mine.md"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("/Downloads/deep: part of the path is a file, not a directory"),
  });
});

test("export --json with --output - is an error: there is no file path to print", async () => {
  const { cli } = await withConversation();
  expect(await cli.run(["export", "--output", "-", "--json"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr:
      "✗ --json reports the path of the file and cannot be combined with --output -\n  To export JSON: --format json\n",
  });
});
