import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { putCodexRollouts } from "../support/codex-home.js";
import { Cli } from "../support/cli.js";

test("a conversation can be created with a name, listed with it and resumed by it", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new", "--name", " Fix the build "])).stdout.trim();
  await cli.run(["chat", "hello"]);
  expect((await cli.run(["list"])).stdout).toContain(
    `  ${id}\n    Name: Fix the build\n    Title: hello\n    Provider: offline (offline)\n`,
  );
  expect(JSON.parse((await cli.run(["list", "--json"])).stdout)).toMatchObject([{ id, name: "Fix the build" }]);
  expect(await cli.run(["resume", "Fix the build"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      `✓ Resumed conversation: ${id}\n  Name: Fix the build\n  Provider: offline (offline)\n`,
    ),
  });
  expect(JSON.parse((await cli.run(["resume", id, "--json"])).stdout)).toMatchObject({ id, name: "Fix the build" });
});

test("chat --name starts a conversation and is rejected for an existing one", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "hello"]);
  expect(await cli.run(["chat", "--name", "second", "hello again"])).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/--name was given: started conv_/),
  });
  await cli.run(["chat", "and again"]);
  const listed = JSON.parse((await cli.run(["list", "--json"])).stdout) as { id: string; name?: string }[];
  expect(listed.map(({ name }) => name)).toEqual(["second", undefined]);
  expect(await cli.said(listed[0]?.id ?? "")).toEqual(["hello again", "and again"]);
  expect(await cli.run(["chat", "--continue", "--name", "x", "hello"])).toMatchObject({
    code: 2,
    stderr: "✗ --name is only for a new conversation\n  To rename one: cody rename <id> <name>\n",
  });
});

test("rename accepts an id prefix or the old name", async () => {
  const cli = await Cli.open();
  const id = (await cli.run(["new"])).stdout.trim();
  expect(await cli.run(["rename", id.slice(0, 12), "old"])).toMatchObject({
    code: 0,
    stdout: `✓ Renamed conversation: ${id}\n  Name: old\n`,
  });
  expect(JSON.parse((await cli.run(["rename", "old", "new", "--json"])).stdout)).toEqual({ id, name: "new" });
  expect(JSON.parse((await cli.run(["list", "--json"])).stdout)).toMatchObject([{ id, name: "new" }]);
  expect(await cli.run(["rename", join(cli.conversations, `${id}.jsonl`), "by file"])).toMatchObject({ code: 0 });
  expect((await cli.run(["repair", "by file"])).stdout).toContain(`${id}: no damage found`);
  expect(await cli.run(["doctor"])).toMatchObject({ code: 0 });
});

test("an invalid, unknown or ambiguous name is reported", async () => {
  const cli = await Cli.open();
  const ids = [];
  for (const name of ["twin", "twin"]) ids.push((await cli.run(["new", "--name", name])).stdout.trim());
  expect(await cli.run(["resume", "twin"])).toMatchObject({
    code: 2,
    stderr: `✗ twin matches 2 conversations: ${ids.join(", ")}\n`,
  });
  expect(await cli.run(["resume", "some one"])).toMatchObject({
    code: 1,
    stderr: "✗ Conversation 'some one' not found\n  List available: cody list\n",
  });
  expect(await cli.run(["rename", ids[0] ?? "", "a\nb"])).toMatchObject({
    code: 2,
    stderr: "✗ a name must have 1 to 100 printable characters\n",
  });
  expect(await cli.run(["new", "--name", "x".repeat(101)])).toMatchObject({ code: 2, stdout: "" });
  expect(await cli.run(["rename", ids[0] ?? ""])).toMatchObject({ code: 2 });
  expect(await cli.run(["rename", ids[0] ?? "", "x", "--no-persistence"])).toMatchObject({
    code: 1,
    stderr: "Not renamed: persistence is off\n",
  });
});

test("a Codex conversation is renamed where Codex reads the name", async () => {
  const cli = await Cli.open();
  const codex = join(cli.project, ".codex");
  await mkdir(codex);
  const [rollout] = await putCodexRollouts(codex, "v0.147.0/simple");
  expect(await cli.run(["rename", "--codex", rollout?.id ?? "", "theirs"])).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse((await cli.run(["list", "--codex", "--json"])).stdout)).toMatchObject([{ name: "theirs" }]);
  expect(await cli.run(["resume", "--codex", "theirs"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("  Name: theirs\n"),
  });
});
