import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

const fixtures = fileURLToPath(new URL("../fixtures/import/", import.meta.url));
const claudeId = "conv_c832cad4-4a3a-448d-a07d-41467dce8320";
const noLosses = { counts: {}, damaged: [], damagedCount: 0 };

test("a Claude Code session is imported, listed, and continued", async () => {
  const cli = await Cli.open();
  const path = join(cli.project, "session.jsonl");
  await copyFile(join(fixtures, "claude-code.jsonl"), path);
  expect(await cli.run(["import", "session.jsonl"])).toEqual({
    code: 0,
    signal: null,
    stderr: "",
    stdout: [
      `✓ Imported: ${claudeId}`,
      `  From: ${path} (claude-code)`,
      "  2 turns, 11 items",
      "  Not imported:",
      "    2 attachments added by the other program",
      "    2 details of tool results",
      "    3 token counts",
      "",
    ].join("\n"),
  });
  expect((await cli.run(["list"])).stdout).toMatch(
    new RegExp(`${claudeId}\\n    Title: .*\\n    Provider: anthropic \\(claude-sonnet-4-5\\)`),
  );
  const asked = await cli.run(["chat", "--resume", claudeId, "--provider", "offline", "hello"]);
  expect(asked).toMatchObject({ code: 0 });
  expect(await cli.said(claudeId)).toEqual(["What do a.txt and b.txt say?", "Which word is longer?", "hello"]);
});

test("import reports and skips a conversation imported before, unless --force is given", async () => {
  const cli = await Cli.open();
  const path = join(cli.project, "session.jsonl");
  await copyFile(join(fixtures, "pi.jsonl"), path);
  await cli.run(["import", path]);
  const [id = ""] = await cli.ids();
  const before = await readFile(join(cli.conversations, `${id}.jsonl`), "utf8");
  expect(await cli.run(["import", path])).toMatchObject({
    code: 0,
    stdout: `Already imported: ${path} is ${id}\n  To import it again as another conversation: --force\n`,
  });
  await writeFile(path, "\n", { flag: "a" });
  expect((await cli.run(["import", path])).stdout).toContain("The file has grown since");
  expect(await readFile(join(cli.conversations, `${id}.jsonl`), "utf8")).toBe(before);
  expect(await cli.ids()).toEqual([id]);
  expect(await cli.run(["import", "--force", path])).toMatchObject({ code: 0 });
  expect(await cli.ids()).toHaveLength(2);
});

test("import --dry-run prints the same report and writes nothing", async () => {
  const cli = await Cli.open();
  const { code, stdout } = await cli.run(["import", "--dry-run", join(fixtures, "claude-code.jsonl")]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^Would be imported: ${claudeId}\n.*Not imported:`, "s")),
  });
  expect(await cli.ids()).toEqual([]);
});

test("import --json prints the report as data", async () => {
  const cli = await Cli.open();
  const path = join(cli.project, "damaged.jsonl");
  const lines = (await readFile(join(fixtures, "codex.jsonl"), "utf8")).trimEnd().split("\n");
  await writeFile(path, [...lines.slice(0, 6), "secret {", ...lines.slice(6), lines[0]?.slice(0, 30)].join("\n"));
  const { code, stdout } = await cli.run(["import", path, "--json"]);
  const id = "conv_019a0000-0000-7000-8000-000000000001";
  expect({ code, json: JSON.parse(stdout) as unknown }).toEqual({
    code: 0,
    json: {
      files: [
        {
          status: "imported",
          path,
          format: "codex",
          conversationId: id,
          rolloutPath: join(cli.conversations, `${id}.jsonl`),
          turns: 2,
          items: 11,
          losses: {
            ...noLosses,
            damaged: [
              { line: 7, detail: "not valid JSON: Unexpected token 's'" },
              { line: lines.length + 2, detail: "cut off" },
            ],
            damagedCount: 2,
          },
        },
      ],
    },
  });
});

test("import searches a folder and reports files that are not conversations", async () => {
  const cli = await Cli.open();
  const folder = join(cli.project, "sessions");
  await mkdir(join(folder, "deep", "er"), { recursive: true });
  await copyFile(join(fixtures, "pi.jsonl"), join(folder, "a.jsonl"));
  await copyFile(join(fixtures, "claude-code.jsonl"), join(folder, "deep", "er", "b.jsonl"));
  await copyFile(join(fixtures, "claude-code-agent.jsonl"), join(folder, "deep", "c.jsonl"));
  await writeFile(join(folder, "package.json"), '{"name": "none"}');
  await writeFile(join(folder, "notes.txt"), "nobody asks for it");
  await writeFile(join(folder, "z.jsonl"), "");
  await symlink(join(folder, "a.jsonl"), join(folder, "link.jsonl"));
  execFileSync("mkfifo", [join(folder, "pipe.jsonl")]);
  const { code, stdout } = await cli.run(["import", folder]);
  expect(code).toBe(0);
  const skipped = [...stdout.matchAll(/- Skipped: .*\/(\S+)\n {2}(.*)\n/g)].map(([, name, reason]) => [name, reason]);
  expect(skipped).toEqual([
    ["c.jsonl", "it only contains the messages of a sub-agent"],
    ["link.jsonl", "links are not followed"],
    ["package.json", "unknown format. Known formats: codex, turns, envoy, diligent, json, claude-code, pi"],
    ["pipe.jsonl", "it is not a regular file"],
    ["z.jsonl", "it is empty"],
  ]);
  expect(stdout).toContain("Total: 2 of 7 file(s) imported, 5 skipped\n");
  expect(await cli.ids()).toHaveLength(2);
});

test("import reports why a file cannot be imported", async () => {
  const cli = await Cli.open();
  const files = {
    "empty.jsonl": "",
    "blank.jsonl": "\n \n",
    "binary.jsonl": Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff]),
    "text.jsonl": "Dear diary,\n",
    "list.json": "[1, 2]",
    "config.json": '{"history": 1}',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(cli.project, name), content);
  await mkdir(join(cli.project, "nothing"));
  execFileSync("mkfifo", [join(cli.project, "pipe")]);
  const known = "unknown format. Known formats: codex, turns, envoy, diligent, json, claude-code, pi";
  const reasons = {
    "missing.jsonl": "file not found",
    "empty.jsonl": "it is empty",
    "blank.jsonl": "it is empty",
    "binary.jsonl": "it is not a text file",
    "text.jsonl": known,
    "list.json": known,
    "config.json": known,
    nothing: "it contains no .jsonl or .json file",
    pipe: "it is not a regular file",
  };
  for (const [name, reason] of Object.entries(reasons)) {
    expect(await cli.run(["import", name])).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `✗ Cannot import ${join(cli.project, name)}: ${reason}\n`,
    });
  }
  expect(await cli.ids()).toEqual([]);
});

test.each([
  [["import"], "Missing argument: path"],
  [["import", ""], "path is empty"],
  [["import", "a", "b"], "Unexpected argument 'b'"],
  [["import", "--from", "word", "a"], "--from: expected one of codex, turns, envoy"],
])("%j is a usage error", async (args, text) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
});

test("import --from reads the file in that format", async () => {
  const cli = await Cli.open();
  const wrong = await cli.run(["import", "--from", "claude-code", join(fixtures, "pi.jsonl")]);
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no readable claude-code conversation in it"),
  });
  expect(await cli.run(["import", "--from", "pi", join(fixtures, "diligent-1.jsonl")])).toMatchObject({ code: 0 });
});

test("without persistence nothing is imported", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["import", "--no-persistence", join(fixtures, "pi.jsonl")])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("persistence is off"),
  });
});

test("import reports conversations that exist already, however often a folder or export is imported", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "my name is Alice"]);
  const [id = ""] = await cli.ids();
  await cli.run(["import", join(fixtures, "pi.jsonl")]);
  await cli.run(["import", join(fixtures, "codex.jsonl")]);
  const before = await cli.ids();
  const { code, stdout } = await cli.run(["import", cli.conversations]);
  expect({ code, lines: stdout.split("\n").filter((line) => line.startsWith("/")) }).toEqual({
    code: 0,
    lines: before
      .toSorted()
      .map((each) => `${join(cli.conversations, `${each}.jsonl`)} is already a conversation of cody: ${each}`),
  });
  expect(stdout).toContain("Total: 0 of 3 file(s) imported, 3 already conversations of cody\n");
  for (const format of ["json", "codex"]) {
    await cli.run(["export", id, "--format", format, "--output", `mine.${format}`]);
    expect(await cli.run(["import", `mine.${format}`])).toEqual({
      code: 0,
      signal: null,
      stderr: "",
      stdout: `${join(cli.project, `mine.${format}`)} is already a conversation of cody: ${id}\n  To import it as another conversation: --force\n`,
    });
  }
  expect((await cli.ids()).toSorted()).toEqual(before.toSorted());
  expect(await cli.run(["import", "mine.json", "--force"])).toMatchObject({ code: 0 });
  expect(await cli.ids()).toHaveLength(before.length + 1);
});

test("a conversation in use elsewhere does not stop the import of the rest of a folder", async () => {
  const cli = await Cli.open();
  const folder = join(cli.project, "sessions");
  await mkdir(folder);
  await copyFile(join(fixtures, "claude-code.jsonl"), join(folder, "a.jsonl"));
  await copyFile(join(fixtures, "pi.jsonl"), join(folder, "b.jsonl"));
  const owner = { token: "0".repeat(32), pid: 7, host: "elsewhere", bootId: "b", pidNamespace: "p", socket: "/tmp/s" };
  await mkdir(cli.conversations, { recursive: true, mode: 0o700 });
  await writeFile(join(cli.conversations, `${claudeId}.jsonl.lock`), JSON.stringify(owner), { mode: 0o600 });
  const { code, stdout, stderr } = await cli.run(["import", folder]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout).toContain(`✗ Not imported: ${join(folder, "a.jsonl")}\n  Conversation ${claudeId} is in use by `);
  expect(stdout).toContain("Total: 1 of 2 file(s) imported, 1 failed\n");
  expect(await cli.ids()).toHaveLength(1);
});

test("an import that cannot be written reports it and exits with 74", async () => {
  const cli = await Cli.open();
  const directory = join(cli.project, "leads-nowhere");
  await symlink(join(cli.project, "no", "such", "folder"), directory);
  const source = join(fixtures, "pi.jsonl");
  const { code, stderr } = await cli.run(["import", source, "--conversation-dir", directory]);
  expect({ code, stderr }).toEqual({ code: 74, stderr: expect.stringContaining("was only partly imported") });
});
