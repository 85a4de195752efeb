import { link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { everything } from "../rollouts/trash/conversation-on-disk.js";
import { Cli, saysOn } from "../support/cli.js";

async function startConversation(cli: Cli, text: string): Promise<string> {
  const id = (await cli.run(["new"])).stdout.trim();
  await cli.run(["chat", text]);
  return id;
}

test("delete moves a conversation to the trash, and undelete restores it byte for byte", async () => {
  const cli = await Cli.open();
  const [gone, stays] = [
    await startConversation(cli, "the one to delete"),
    await startConversation(cli, "the one to keep"),
  ];
  await writeFile(join(cli.conversations, `${gone}.jsonl.torn-1`), "{");
  const before = await everything(cli.conversations);
  expect(await cli.run(["delete", gone])).toEqual({
    code: 0,
    signal: null,
    stderr: "",
    stdout: expect.stringMatching(
      new RegExp(
        `^✓ Moved 1 conversation to the trash \\(.+\\)\n  ${gone} \\(the one to delete\\)\nTo restore it within 30 days: cody undelete ${gone}\n$`,
      ),
    ),
  });
  expect(await cli.ids()).toEqual([stays]);
  expect(await cli.run(["resume", gone])).toMatchObject({ code: 1 });
  expect(await cli.run(["undelete", gone])).toMatchObject({ code: 0 });
  expect(await everything(cli.conversations)).toEqual(before);
});

test("delete accepts id prefixes, names, files and several of them, each deleted once", async () => {
  const cli = await Cli.open();
  const ids = [
    await startConversation(cli, "a"),
    await startConversation(cli, "b"),
    await startConversation(cli, "c"),
    await startConversation(cli, "d"),
  ];
  const [first = "", second = "", third = "", pinned = ""] = ids;
  await cli.run(["rename", second, "big plan"]);
  await cli.run(["pin", pinned]);
  const unique = first.slice(0, -1);
  const file = join(cli.conversations, `${third}.jsonl`);
  const { code, stdout } = await cli.run(["delete", unique, "big plan", file, first, pinned, "--json"]);
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({ deletedCount: 4, totalSizeFreed: 0, failures: [] });
  expect(result.successes.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(ids);
  expect(JSON.parse((await cli.run(["list", "--json"])).stdout)).toEqual([]);
});

test("delete with an unknown or ambiguous id deletes nothing and reports each error", async () => {
  const cli = await Cli.open();
  const [first, second] = [await startConversation(cli, "a"), await startConversation(cli, "b")];
  const { code, stdout, stderr } = await cli.run(["delete", first, "conv_none", "conv_0"]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(
    "✗ Nothing was deleted:\n  Conversation 'conv_none' not found\n  conv_0 matches 2 conversations: ",
  );
  expect(stderr).toContain("  List available: cody list\n");
  expect((await cli.ids()).toSorted()).toEqual([first, second].toSorted());
  expect(await cli.run(["delete", "conv_none"])).toMatchObject({
    code: 1,
    stderr: "✗ Conversation 'conv_none' not found\n  List available: cody list\n",
  });
  expect(await cli.run(["delete"])).toMatchObject({ code: 2 });
  await cli.run(["delete", first]);
  expect(await cli.run(["delete", first])).toMatchObject({
    code: 1,
    stderr: `✗ Conversation '${first}' is already in the trash\n  To restore it: cody undelete ${first}\n`,
  });
});

test("delete keeps a conversation in use, a symlink and Codex's files, and says why", async () => {
  const cli = await Cli.open();
  const [busy, free] = [await startConversation(cli, "a"), await startConversation(cli, "b")];
  const linked = "conv_01a1e278-c9af-73b9-84ae-93f3a1bd5b54";
  await writeFile(join(cli.project, "elsewhere.jsonl"), "{}\n");
  await symlink(join(cli.project, "elsewhere.jsonl"), join(cli.conversations, `${linked}.jsonl`));
  const held = cli.start(["chat", "wait", "--resume", busy], { middle: "hold" });
  await saysOn(held.stdout, "I am");
  const { code, stdout } = await cli.run(["delete", busy, free, linked]);
  expect(code).toBe(1);
  expect(stdout).toContain(`✓ Moved 1 conversation to the trash`);
  expect(stdout).toContain(`✗ Cannot move 2 conversations:\n`);
  expect(stdout).toContain(`  ${busy} (a): it is in use by pid ${held.pid}\n`);
  expect(stdout).toContain(`  ${linked}: ${linked}.jsonl is not a regular file\n`);
  expect((await cli.ids()).toSorted()).toEqual([busy, linked].toSorted());
  const uuid = "01a1e278-c9af-73b9-84ae-93f3a1bd5b55";
  const day = join(cli.project, ".codex", "sessions", "2026", "11", "16");
  await mkdir(day, { recursive: true });
  await writeFile(join(day, `rollout-2026-11-16T00-00-00-${uuid}.jsonl`), "{}\n");
  expect(await cli.run(["delete", uuid])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("it is in Codex's directory; cody does not delete there"),
  });
});

test("only removed bytes count as freed, and a file with another hard link is not reported as overwritten", async () => {
  const cli = await Cli.open();
  const [linked, alone] = [await startConversation(cli, "kept elsewhere"), await startConversation(cli, "not kept")];
  const path = join(cli.conversations, `${linked}.jsonl`);
  const other = join(cli.project, "another-name.jsonl");
  await link(path, other);
  const text = await readFile(other, "utf8");
  const { size } = await stat(join(cli.conversations, `${alone}.jsonl`));
  const moved = JSON.parse((await cli.run(["delete", linked, alone, "--json"])).stdout);
  expect(moved).toMatchObject({ deletedCount: 2, totalSize: text.length + size, totalSizeFreed: 0 });
  const removed = JSON.parse((await cli.run(["clean", "--trash", "--all", "--yes", "--json"])).stdout);
  expect(removed).toMatchObject({ deletedCount: 2, totalSizeFreed: size });
  expect(removed.successes).toContainEqual({
    success: true,
    sessionId: linked,
    size: text.length,
    sizeFreed: 0,
    hardLinked: [`${linked}.jsonl`],
  });
  expect(removed.successes).toContainEqual({ success: true, sessionId: alone, size, sizeFreed: size });
  expect(await readFile(other, "utf8")).toBe(text);
  expect(await readdir(join(cli.home, "trash"))).toEqual([]);
  // The text output, first when nothing was overwritten, then when something was.
  const again = await startConversation(cli, "once more");
  await rm(other);
  await link(join(cli.conversations, `${again}.jsonl`), other);
  await cli.run(["delete", again]);
  expect((await cli.run(["clean", "--trash", "--all", "--yes"])).stdout).toBe(
    `✓ Permanently deleted 1 conversation (0 bytes freed)\n1 file has another hard link, so its contents are still on the disk and were not overwritten:\n  ${again}.jsonl\n`,
  );
});
