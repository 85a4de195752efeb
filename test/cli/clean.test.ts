import { lutimes, mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, saysOn } from "../support/cli.js";
import { everything } from "../rollouts/trash/conversation-on-disk.js";

const dayMs = 24 * 60 * 60 * 1000;

/** A conversation last changed this many days ago. */
async function agedConversation(cli: Cli, days: number, cwd = cli.project): Promise<string> {
  const id = (await cli.run(["new"], { cwd })).stdout.trim();
  const then = new Date(Date.now() - days * dayMs);
  await utimes(join(cli.conversations, `${id}.jsonl`), then, then);
  return id;
}

test("clean moves conversations older than seven days, and undelete restores them byte for byte", async () => {
  const cli = await Cli.open();
  const [old, fresh] = [await agedConversation(cli, 8), await agedConversation(cli, 6)];
  const path = join(cli.conversations, `${old}.jsonl`);
  await writeFile(`${path}.torn-1`, "{");
  const before = await everything(cli.conversations);
  const dry = await cli.run(["clean", "--dry-run"]);
  expect(dry.stdout).toMatch(
    new RegExp(`^1 conversation would be moved to the trash \\(.+\\):\n  ${old}, last changed `),
  );
  expect(await everything(cli.conversations)).toEqual(before);
  const { code, stdout } = await cli.run(["clean"]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(
        `^✓ Moved 1 conversation to the trash \\(.+\\)\n  ${old}\nTo restore it within 30 days: cody undelete ${old}`,
      ),
    ),
  });
  expect(await cli.ids()).toEqual([fresh]);
  expect((await cli.run(["undelete", "--list"])).stdout).toContain(`In the trash:\n\n  ${old}\n    Deleted: `);
  expect(JSON.parse((await cli.run(["undelete", "--json"])).stdout)).toMatchObject([{ id: old, path, why: "asked" }]);
  expect(await cli.run(["undelete", old.slice(0, 30)])).toMatchObject({
    code: 0,
    stdout: `✓ Restored conversation: ${old}\n  File: ${path}\n`,
  });
  expect(await everything(cli.conversations)).toEqual(before);
  expect((await cli.run(["undelete"])).stdout).toBe("The trash is empty.\n");
  expect(await cli.run(["resume", old, "--json"])).toMatchObject({ code: 1 });
});

test("clean --older-than accepts an age and rejects an invalid one", async () => {
  const cli = await Cli.open();
  const id = await agedConversation(cli, 3);
  expect((await cli.run(["clean", "--older-than", "1w"])).stdout).toBe("No conversations older than 7 days.\n");
  for (const age of ["0d", "7", "d", "-1d", "1.5d", "7 d", "1y", "999999d"]) {
    expect(await cli.run(["clean", `--older-than=${age}`])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `--older-than: expected an age like 12h, 7d or 2w, not '${age}': a whole number from 1 to 99999 followed by h, d or w`,
      ),
    });
  }
  expect(await cli.run(["clean", "--all", "--older-than", "7d"])).toMatchObject({ code: 2 });
  expect(await cli.run(["clean", "--trash", "--older-than", "7d"])).toMatchObject({ code: 2 });
  expect(await cli.run(["clean", "--yes"])).toMatchObject({ code: 2 });
  expect(await cli.ids()).toEqual([id]);
  const cleaned = JSON.parse((await cli.run(["clean", "--older-than", "48h", "--json"])).stdout);
  expect(cleaned).toMatchObject({ dryRun: false, deletedCount: 1, failures: [], kept: [] });
  expect(cleaned.successes).toEqual([{ success: true, sessionId: id, size: cleaned.totalSize, sizeFreed: 0 }]);
});

test("clean --all is limited to this project and keeps pinned conversations", async () => {
  const cli = await Cli.open();
  const [here, there] = [join(cli.project, "here"), join(cli.project, "there")];
  for (const folder of [here, there]) await mkdir(join(folder, ".git"), { recursive: true });
  const [own, other, pinned] = [
    await agedConversation(cli, 0, here),
    await agedConversation(cli, 90, there),
    await agedConversation(cli, 0, here),
  ];
  await cli.run(["pin", pinned]);
  const { code, stdout } = await cli.run(["clean", "--all"], { cwd: here });
  expect(code).toBe(0);
  expect(stdout).toContain(`  ${own}\nKept (pinned): ${pinned}\n`);
  expect(await cli.ids()).toEqual(expect.arrayContaining([other, pinned]));
  expect(await cli.ids()).not.toContain(own);
  expect((await cli.run(["clean", "--project"], { cwd: here })).stdout).toBe("No conversations older than 7 days.\n");
  expect((await cli.run(["clean"], { cwd: here })).stdout).toContain(other);
});

test("clean reports conversations it cannot move and moves the others", async () => {
  const cli = await Cli.open();
  const ids = [await agedConversation(cli, 10), await agedConversation(cli, 9)];
  const linked = "conv_01a1e278-c9af-73b9-84ae-93f3a1bd5b54";
  const elsewhere = join(cli.project, "elsewhere.jsonl");
  await writeFile(elsewhere, "{}\n");
  await symlink(elsewhere, join(cli.conversations, `${linked}.jsonl`));
  const held = cli.start(["chat", "wait", "--resume", ids[0] ?? ""], { middle: "hold" });
  await saysOn(held.stdout, "I am");
  const [busy = "", free = ""] = ids;
  await utimes(join(cli.conversations, `${busy}.jsonl`), 0, 0);
  await utimes(join(cli.conversations, `${free}.jsonl`), 0, 0);
  await lutimes(join(cli.conversations, `${linked}.jsonl`), 0, 0);
  const dry = await cli.run(["clean", "--dry-run"]);
  expect(dry.stdout).toContain(`\nKept (in use): ${busy} (wait)\n`);
  expect(dry.stdout).toContain(`  ${free}, last changed `);
  expect(dry.stdout).not.toContain(`${busy} (wait), last changed`);
  expect(JSON.parse((await cli.run(["clean", "--dry-run", "--json"])).stdout)).toMatchObject({ inUse: [busy] });
  const { code, stdout } = await cli.run(["clean"]);
  expect(code).toBe(1);
  expect(stdout).toContain(`✓ Moved 1 conversation to the trash`);
  expect(stdout).toContain(`✗ Cannot move 2 conversations:\n`);
  expect(stdout).toContain(`  ${busy} (wait): it is in use by pid ${held.pid}\n`);
  expect(stdout).toContain(`  ${linked}: ${linked}.jsonl is not a regular file\n`);
  expect(await cli.ids()).not.toContain(free);
  expect(await readFile(elsewhere, "utf8")).toBe("{}\n");
});

test("clean --trash deletes only after confirmation and warns that deleted data may be recoverable", async () => {
  const cli = await Cli.open();
  const id = await agedConversation(cli, 20);
  await cli.run(["rename", id, "secret plan"]);
  await utimes(join(cli.conversations, `${id}.jsonl`), 0, 0);
  await cli.run(["clean"]);
  expect((await cli.run(["clean", "--trash", "--yes"])).stdout).toBe("Nothing in the trash to delete.\n");
  const asked = await cli.run(["clean", "--trash", "--all"]);
  expect(asked.stdout).toContain("1 conversation would be permanently deleted");
  expect(asked.stdout).toContain("To delete them permanently: cody clean --trash --all --yes\n");
  expect(await readdir(join(cli.home, "trash"))).toHaveLength(1);
  const removed = await cli.run(["clean", "--trash", "--all", "--yes"]);
  expect(removed.stdout).toMatch(
    /^✓ Permanently deleted 1 conversation \([1-9].* freed\)\nThe files were overwritten, but the disk/,
  );
  expect(removed.stdout).not.toMatch(/secure/i);
  expect(await readdir(join(cli.home, "trash"))).toEqual([]);
  expect(await readFile(join(cli.conversations, ".names.jsonl"), "utf8")).not.toContain("secret plan");
  expect(await cli.run(["undelete", id])).toMatchObject({
    code: 1,
    stderr: `✗ Conversation '${id}' is not in the trash\n  List the trash: cody undelete\n`,
  });
  const audit = (await readFile(join(cli.home, "retention.jsonl"), "utf8")).trimEnd().split("\n");
  expect(audit.map((line) => (JSON.parse(line) as { action: string }).action)).toEqual(["trashed", "removed"]);
});

test("clean and undelete show the name or the first message, and undelete accepts the name", async () => {
  const cli = await Cli.open();
  const [named, titled] = [await agedConversation(cli, 0), await agedConversation(cli, 0)];
  await cli.run(["chat", "--resume", named, "hello"]);
  await cli.run(["rename", named, "big plan"]);
  await cli.run(["chat", "--resume", titled, "fix \u001b[31mthe build\nand more"]);
  const title = "fix \\033[31mthe build";
  expect((await cli.run(["clean", "--all", "--dry-run"])).stdout).toContain(`  ${titled} (${title}), last changed `);
  const cleaned = await cli.run(["clean", "--all"]);
  expect(cleaned.stdout).toContain(`  ${named} (big plan)\n`);
  expect(cleaned.stdout).toContain(`  ${titled} (${title})\n`);
  const listed = (await cli.run(["undelete"])).stdout;
  expect(listed).toContain(`  ${named} (big plan)\n    Deleted: `);
  expect(listed).toContain(`  ${titled} (${title})\n    Deleted: `);
  expect((await cli.run(["clean", "--trash", "--all"])).stdout).toContain(`  ${named} (big plan), deleted `);
  expect(await cli.run(["undelete", "big"])).toMatchObject({ code: 1 });
  expect(await cli.run(["undelete", "big plan"])).toMatchObject({ code: 0, stdout: expect.stringContaining(named) });
  await cli.run(["clean", "--all"]);
  await rm(join(cli.conversations, ".names.jsonl"));
  expect(await cli.run(["undelete", "big plan"])).toMatchObject({ code: 0, stdout: expect.stringContaining(named) });
});

test("conversations of the same name in the trash are distinguished by their ids", async () => {
  const cli = await Cli.open();
  const ids = [await agedConversation(cli, 0), await agedConversation(cli, 0)];
  for (const id of ids) await cli.run(["rename", id, "twin"]);
  await cli.run(["clean", "--all"]);
  const { code, stderr } = await cli.run(["undelete", "twin"]);
  expect(code).toBe(1);
  expect(stderr).toContain("twin matches several conversations in the trash: ");
  for (const id of ids) expect(stderr).toContain(id);
});

test("undelete does not overwrite an existing file, and clean skips Codex's directory", async () => {
  const cli = await Cli.open();
  const id = await agedConversation(cli, 20);
  const path = join(cli.conversations, `${id}.jsonl`);
  await cli.run(["clean"]);
  await writeFile(path, "new\n");
  expect(await cli.run(["undelete", id])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Cannot restore conversation ${id}: another file exists at ${path}`),
  });
  expect(await readFile(path, "utf8")).toBe("new\n");
  expect(await cli.run(["clean", "--layout", "codex"])).toMatchObject({
    code: 1,
    stderr: "✗ cody does not delete conversations in Codex's directory; use Codex for that\n",
  });
});
