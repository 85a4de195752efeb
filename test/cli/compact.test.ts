import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CompactionOutcome, CompactionPreview, ContextUsage } from "../../src/messages/compaction.js";
import { Cli } from "../support/cli.js";

const compactedLine = /^Context compacted: [\d.]+[kM]? → [\d.]+[kM]? tokens\n$/;

test.each([["compact"], ["compact", "--dry-run"], ["compact", "--undo"], ["context"]])(
  "without a conversation %s %s is an error",
  async (...args) => {
    const cli = await Cli.open();
    expect(await cli.run(args)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("✗ No active conversation\n  List available: cody list\n"),
    });
    expect(await cli.ids()).toEqual([]);
  },
);

test("compact replaces the history with a summary and keeps the original lines", async () => {
  const { cli, id } = await openWithFourTurns();
  const { code, stdout, stderr } = await cli.run(["compact", "keep", "the", "name"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(compactedLine) });
  expect(stderr).toMatch(/^Compacting conversation history\.\.\. \([\d.]+k? tokens\)\n$/m);
  expect((await cli.lines(id)).filter(({ type }) => type === "compacted")).toHaveLength(1);
  const { items } = await usageOf(cli);
  expect(items.filter(({ kind }) => kind === "summary")).toHaveLength(1);
  expect(items.filter(({ kind }) => kind === "assistant")).toEqual([]);
  expect((await cli.run(["chat", "What is my name?"])).stdout).toContain("Alice");
});

test("compact --undo restores the history before the last compaction, once", async () => {
  const { cli } = await openWithFourTurns();
  await cli.run(["compact"]);
  expect(await cli.run(["compact", "--undo"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Compaction undone: .+ → .+ tokens, 5 → 8 items\n$/),
  });
  const { items } = await usageOf(cli);
  expect(items.filter(({ kind }) => kind === "assistant").map(({ text }) => text)).toContain("2+2 = 4");
  expect(await cli.run(["compact", "--undo"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("no compaction to undo"),
  });
});

test("compact --dry-run lists what would be kept and dropped, and writes nothing", async () => {
  const { cli, id } = await openWithFourTurns();
  const file = join(cli.conversations, `${id}.jsonl`);
  const before = await readFile(file, "utf8");
  const { code, stdout } = await cli.run(["compact", "--dry-run"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Strategy: codex\nTokens: [\d.]+k? → [\d.]+k? plus the summary\nWindow: 128k tokens/);
  expect(stdout).toMatch(/\nKept:\n[^]*  user +4 [^]*\nDropped:\n  assistant +4 [^]*\nNothing was changed\.\n$/);
  const preview = JSON.parse(
    (await cli.run(["compact", "--dry-run", "--strategy", "recent-turns", "--json"])).stdout,
  ) as CompactionPreview;
  expect(preview.strategy).toBe("recent-turns");
  expect(await readFile(file, "utf8")).toBe(before);
});

test("compact --json prints one value on stdout and nothing else", async () => {
  const { cli } = await openWithFourTurns();
  const { stdout, stderr, code } = await cli.run(["compact", "--json"]);
  const outcome = JSON.parse(stdout) as CompactionOutcome;
  expect({ code, outcome }).toMatchObject({ code: 0, outcome: { status: "compacted", strategy: "codex" } });
  expect(stderr).not.toContain("Compacting");
  const undone = JSON.parse((await cli.run(["compact", "--undo", "--json"])).stdout) as CompactionOutcome;
  expect(undone).toMatchObject({ status: "compacted" });
});

test("compacting an empty conversation does nothing and succeeds", async () => {
  const cli = await Cli.open();
  await cli.run(["new"]);
  expect(await cli.run(["compact"])).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringContaining("nothing to compact"),
  });
});

test.each([
  [["compact", "--undo", "--dry-run"], 2, "--undo cannot be combined with other options or instructions"],
  [["compact", "--undo", "please"], 2, "--undo cannot be combined with other options or instructions"],
  [["compact", "--dry-run", "--strategy", "magic"], 2, "Unknown compaction strategy magic"],
  [["compact", "--strategy", "magic"], 2, "Unknown compaction strategy magic"],
  [["compact", "--strategy"], 2, "--strategy needs a value"],
  [["compact", "--no-persistence"], 1, "Persistence is off"],
  [["compact", "--resume", "conv_none"], 1, "Conversation 'conv_none' not found"],
  [["context", "conv_none"], 1, "Conversation 'conv_none' not found"],
])("%j is rejected", async (args, code, text) => {
  const { cli } = await openWithFourTurns();
  expect(await cli.run(args)).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(text) });
});

test("compact --resume selects another conversation and does not change the active one", async () => {
  const { cli, id } = await openWithFourTurns();
  const active = (await cli.run(["new"])).stdout.trim();
  expect(await cli.run(["compact", "--resume", id])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(compactedLine),
  });
  await cli.run(["chat", "hello"]);
  expect(await cli.said(active)).toEqual(["hello"]);
});

test("context shows the token use of the active or the named conversation", async () => {
  const { cli, id } = await openWithFourTurns();
  const { code, stdout } = await cli.run(["context"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^offline: [\d.]+k? of 128k tokens, <?\d+%\nCompacts above 102k tokens\n\n  instructions /);
  for (const name of ["tools", "user", "assistant"])
    expect(stdout).toMatch(new RegExp(`\n  ${name} +[\\d.]+k? +<?\\d+%`));
  expect(stdout).toContain("My name is Alice");
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  await cli.run(["new"]);
  expect((await cli.run(["context", id])).stdout).toBe(stdout);
  expect((await cli.run(["context"])).stdout).not.toContain("Alice");
});

test("context works on a conversation that is in use", async () => {
  const { cli, id } = await openWithFourTurns();
  const child = cli.start(["--resume", id]);
  child.stdin.write("hello\n");
  await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  expect(await cli.run(["context", id])).toMatchObject({ code: 0 });
  expect(await cli.run(["compact", "--dry-run", "--resume", id])).toMatchObject({ code: 0 });
  expect(await cli.run(["compact", "--resume", id])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is in use by"),
  });
});

/** A conversation of four turns. */
async function openWithFourTurns(): Promise<{ cli: Cli; id: string }> {
  const cli = await Cli.open();
  const input = ["My name is Alice", "What is 2+2?", "What is 3+3?", "What is 4+4?"]
    .map((line) => `${line}\n`)
    .join("");
  await cli.run([], { input });
  const [id = ""] = await cli.ids();
  return { cli, id };
}

async function usageOf(cli: Cli): Promise<ContextUsage> {
  return JSON.parse((await cli.run(["context", "--json"])).stdout) as ContextUsage;
}
