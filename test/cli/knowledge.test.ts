import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

const store = ".cody/knowledge/knowledge.jsonl";

async function idsIn(cli: Cli): Promise<string[]> {
  const listed = JSON.parse((await cli.run(["knowledge", "list", "--json"])).stdout) as { id: string }[];
  return listed.map(({ id }) => id);
}

test("what is added is listed, best first", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["knowledge"])).toMatchObject({ code: 0, stdout: "Nothing is known of this project yet.\n" });
  await cli.run(["knowledge", "add", "Tests", "run", "with", "vitest"]);
  const added = await cli.run(["knowledge", "add", "--type", "correction", "--tags", "pm, npm", "--json", "Use pnpm"]);
  expect(added).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(added.stdout)).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
    timestamp: expect.any(String) as string,
    type: "correction",
    content: "Use pnpm",
    confidence: 0.8,
    tags: ["pm", "npm"],
  });
  const { stdout } = await cli.run(["knowledge", "list"]);
  expect(stdout.split("\n").map((line) => line.slice(10).replace(/\d{4}-\d\d-\d\d/, "DAY"))).toEqual([
    "[correction] Use pnpm  (DAY 0.8 #pm #npm)",
    "[pattern] Tests run with vitest  (DAY 0.8)",
    "",
  ]);
});

test("a text may come from stdin, and what does not fit is refused with what is allowed", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["knowledge", "add"], { input: "from stdin\n" })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^💡 Knowledge saved: \[pattern\] from stdin\n {2}Id: [0-9a-f]{8}\n$/) as string,
  });
  for (const args of [["--type", "rule", "x"], ["--confidence", "2", "x"], ["--confidence", "much", "x"], [""]]) {
    const refused = await cli.run(["knowledge", "add", ...args]);
    expect(refused.code).toBeGreaterThan(0);
    expect(refused.stderr).toContain("knowledge: ");
  }
  expect(await cli.run(["knowledge", "forget"])).toMatchObject({
    code: 2,
    stderr: "✗ Unknown action 'forget'\n  Actions: list, add, remove, prune, export, import\n",
  });
  expect(await idsIn(cli)).toHaveLength(1);
});

test("what replaces something hides it, and removing takes both out of the file", async () => {
  const cli = await Cli.open();
  await cli.run(["knowledge", "add", "tabs"]);
  const [old = ""] = await idsIn(cli);
  await cli.run(["knowledge", "add", "spaces", "--supersedes", old]);
  const [now = "", ...others] = await idsIn(cli);
  expect(others).toEqual([]);
  expect((await cli.run(["knowledge", "list", "--all"])).stdout).toContain(`${old}  [pattern] replaced tabs`);
  expect(await cli.run(["knowledge", "add", "x", "--supersedes", "none"])).toMatchObject({ code: 74 });
  const removed = await cli.run(["knowledge", "remove", now.slice(0, 6)]);
  expect(removed).toMatchObject({ code: 0, stdout: `✓ Removed: ${old}, ${now}\n` });
  expect(await readFile(join(cli.project, store), "utf8")).toBe("");
  expect(await cli.run(["knowledge", "remove", now])).toMatchObject({
    code: 1,
    stderr: `✗ There is no knowledge '${now}'\n  See: cody knowledge list --all\n`,
  });
  expect(await cli.run(["knowledge", "remove"])).toMatchObject({ code: 2 });
});

test("another program's knowledge is listed and not touched", async () => {
  const cli = await Cli.open();
  const line = { id: "aaaaaaaa", timestamp: "2026-11-01T00:00:00Z", type: "pattern", content: "theirs", confidence: 1 };
  await mkdir(join(cli.project, ".diligent/knowledge"), { recursive: true });
  const text = `${JSON.stringify(line)}\nnot knowledge\n`;
  await writeFile(join(cli.project, ".diligent/knowledge/knowledge.jsonl"), text);
  const listed = await cli.run(["knowledge", "list"]);
  expect(listed.stdout).toContain("aaaaaaaa  [pattern] theirs");
  expect(listed.stderr).toContain("passed over 1 line(s) that are no knowledge, the first is 2");
  expect(await cli.run(["knowledge", "remove", "aaaa"])).toMatchObject({ code: 1 });
  await cli.run(["knowledge", "prune"]);
  expect(await readFile(join(cli.project, ".diligent/knowledge/knowledge.jsonl"), "utf8")).toBe(text);
});

test("prune says what it would remove, and removes it", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["knowledge", "prune"])).toMatchObject({ code: 0, stdout: "✓ Removed 0 lines\n" });
  const old = { id: "00000001", timestamp: "2020-01-01T00:00:00Z", type: "pattern", content: "old", confidence: 1 };
  await mkdir(join(cli.project, ".cody/knowledge"), { recursive: true });
  await writeFile(join(cli.project, store), `${JSON.stringify(old)}\n{ torn\n`);
  await cli.run(["knowledge", "add", "new"]);
  expect(await cli.run(["knowledge", "prune", "--older-than", "52w", "--dry-run"])).toMatchObject({
    stdout: "Would remove: 00000001\n",
  });
  expect(await cli.run(["knowledge", "prune"])).toMatchObject({ code: 0, stdout: "✓ Removed 1 line\n" });
  const pruned = await cli.run(["knowledge", "prune", "--older-than", "52w", "--json"]);
  expect(JSON.parse(pruned.stdout)).toEqual({ dryRun: false, removed: ["00000001"], lines: 1 });
  expect(await idsIn(cli)).toHaveLength(1);
});

test("what one project exports another imports, once", async () => {
  const cli = await Cli.open();
  const other = join(cli.project, "other");
  await mkdir(join(other, ".git"), { recursive: true });
  await cli.run(["knowledge", "add", "one"]);
  await cli.run(["knowledge", "add", "two"]);
  const exported = await cli.run(["knowledge", "export"]);
  expect(exported.stdout).toBe(await readFile(join(cli.project, store), "utf8"));
  const file = join(cli.project, "knowledge.txt");
  expect(await cli.run(["knowledge", "export", "--output", file])).toMatchObject({ code: 0 });
  expect(await cli.run(["knowledge", "export", "--output", file])).toMatchObject({
    code: 1,
    stderr: `✗ ${file} is there already\n`,
  });
  expect(await cli.run(["knowledge", "import", file], { cwd: other })).toMatchObject({
    code: 0,
    stdout: "✓ Imported 2 of 2\n",
  });
  const again = await cli.run(["knowledge", "import", "-"], { cwd: other, input: `${exported.stdout}nothing\n` });
  expect(again).toMatchObject({
    stdout: "✓ Imported 0 of 2; 2 known already\n",
    stderr: "Passed over 1 line that are no knowledge, the first is 3\n",
  });
  expect(await readFile(join(other, store), "utf8")).toBe(exported.stdout);
  expect(await cli.run(["knowledge", "import", "none"], { cwd: other })).toMatchObject({ code: 1 });
});

test("the offline model saves what it is told for the project, and the terminal says so", async () => {
  const cli = await Cli.open();
  const said = "remember for this project that tests run with vitest";
  const { stdout, stderr } = await cli.run(["chat", said, "--sandbox", "danger-full-access"]);
  expect(stderr).toContain("💡 Knowledge saved: tests run with vitest\n");
  expect(stdout).toContain("Knowledge saved: [pattern] tests run with vitest");
  expect((await cli.run(["knowledge", "list"])).stdout).toContain("[pattern] tests run with vitest");
});
