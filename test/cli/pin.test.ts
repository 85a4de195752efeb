import { lstat, mkdir, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { putCodexRollouts } from "../support/codex-home.js";
import { Cli } from "../support/cli.js";

test("pin and unpin report their change, and list shows it", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new"])).stdout.trim();
  expect(await cli.run(["pin", id.slice(0, 20)])).toMatchObject({
    code: 0,
    stdout: `✓ Pinned conversation: ${id}\n`,
    stderr: "",
  });
  expect((await cli.run(["list"])).stdout).toContain(`  ${id} (empty) (pinned)\n`);
  expect(JSON.parse((await cli.run(["list", "--json"])).stdout)).toMatchObject([{ id, pinned: true }]);
  expect(JSON.parse((await cli.run(["unpin", id, "--json"])).stdout)).toEqual({ id, pinned: false });
  expect((await cli.run(["list"])).stdout).not.toContain("(pinned)");
  expect(await cli.run(["doctor"])).toMatchObject({ code: 0 });
});

test("pin rejects an unknown conversation, and any without persistence", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["pin", "nothing"])).toMatchObject({
    code: 1,
    stderr: "✗ Conversation 'nothing' not found\n  List available: cody list\n",
  });
  const id = (await cli.run(["new"])).stdout.trim();
  expect(await cli.run(["pin", id, "--no-persistence"])).toMatchObject({
    code: 1,
    stderr: "Not pinned: persistence is off\n",
  });
  expect(await cli.run(["pin"])).toMatchObject({ code: 2 });
});

test("a Codex conversation is pinned without writing to Codex's directory", async () => {
  const cli = await Cli.open();
  const codex = join(cli.project, ".codex");
  await mkdir(codex);
  const [rollout] = await putCodexRollouts(codex, "v0.147.0/simple");
  const before = await readdir(codex, { recursive: true });
  expect(await cli.run(["pin", "--codex", rollout?.id ?? ""])).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse((await cli.run(["list", "--codex", "--json"])).stdout)).toMatchObject([{ pinned: true }]);
  const after = await readdir(codex, { recursive: true });
  expect(after.filter((name) => !name.includes("thread-writer-locks"))).toEqual(before);
});

test("pin, unpin and rename keep the conversation's age and its place in the list", async () => {
  const cli = await Cli.open();
  const old = (await cli.run(["new"])).stdout.trim();
  const newer = (await cli.run(["new"])).stdout.trim();
  const path = join(cli.conversations, `${old}.jsonl`);
  // Times with a fraction of a second.
  const times = Array.from({ length: 6 }, (_, index) => 1_790_000_000_123 + index * 7_001);
  for (const time of times) {
    await utimes(path, time / 1000, (time + 0.5) / 1000);
    const command =
      [
        ["pin", old],
        ["unpin", old],
        ["rename", old, `old ${time}`],
      ][time % 3] ?? [];
    expect(await cli.run(command)).toMatchObject({ code: 0 });
    expect(Math.floor((await lstat(path)).mtimeMs)).toBe(time);
  }
  const listed = JSON.parse((await cli.run(["list", "--json"])).stdout);
  expect(listed).toMatchObject([{ id: newer }, { id: old, name: expect.stringContaining("old 179") }]);
});
