import { copyFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

const fixtures = fileURLToPath(new URL("../fixtures/forms/", import.meta.url));
const uuid = "01932d4c-89ab-7890-abcd-123456789abc";
const offline = ["--provider", "offline"];

test.each([
  { fixture: "turns.jsonl", name: `conv_${uuid}.jsonl`, labels: "openai (gpt-4)" },
  { fixture: "messages.jsonl", name: `Users_dev_myproject/${uuid}.jsonl`, labels: "anthropic (unknown)" },
  {
    fixture: "entries-1.jsonl",
    name: `conv_${uuid}.jsonl`,
    labels: "anthropic (claude-sonnet-4-20250514)",
  },
  {
    fixture: "entries-2.jsonl",
    name: `${uuid}.jsonl`,
    labels: "anthropic (claude-sonnet-4-20250514)",
  },
])("$fixture in the store is listed, resumed, and continued in the same file", async ({ fixture, name, labels }) => {
  const cli = await Cli.open();
  const path = join(cli.conversations, name);
  await mkdir(dirname(path), { recursive: true });
  await copyFile(join(fixtures, fixture), path);
  const before = await readFile(path, "utf8");
  const id = `conv_${uuid}`;
  const list = (await cli.run(["list"])).stdout;
  expect(list).toContain(`  ${id}\n    Title: `);
  expect(list).toContain(`    Provider: ${labels}\n`);
  expect(await cli.run(["resume", id, ...offline])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`✓ Resumed conversation: ${id}\n`),
    stderr: expect.not.stringContaining("unknown type"),
  });
  await cli.run(["chat", "my name is Alice", ...offline]);
  expect(await cli.run(["chat", "What's my name?", ...offline])).toMatchObject({
    code: 0,
    stdout: "You told me: your name is Alice.\n",
  });
  const after = await readFile(path, "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect((await cli.run(["repair", id])).stdout).toContain(`${id}: no damage found\n`);
});

test("a file of another format can be resumed by its path", async () => {
  const cli = await Cli.open();
  const path = join(cli.project, "elsewhere.jsonl");
  await copyFile(join(fixtures, "turns.jsonl"), path);
  expect(await cli.run(["resume", path, ...offline])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("✓ Resumed conversation: elsewhere\n"),
  });
  expect((await cli.run(["chat", "hello", ...offline])).code).toBe(0);
  expect(await readFile(path, "utf8")).toContain('"hello"');
});
