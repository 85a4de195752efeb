import { once } from "node:events";
import { readdir, readFile, rename, symlink, writeFile, rm, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { FakeTerminal } from "../support/cli-terminal.js";
import { Cli } from "../support/cli.js";
import { openManager } from "../support/open-conversation.js";
import { calls, says, scripted } from "../support/scripted-provider.js";

/** A conversation in its own folder that runs one of these commands in each turn. */
async function openAfterCommands(commands: readonly string[], files: Readonly<Record<string, string>>) {
  const cli = await Cli.open();
  const cwd = join(cli.project, "work");
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const replies = commands.flatMap((command, index) => [
    calls("shell", `c${index}`, { command: ["sh", "-c", command] }),
    says("Done."),
  ]);
  const provider = scripted([...replies, says("Hello.")]);
  const config = { provider: provider.name, sandbox: "danger-full-access" } as const;
  const { PATH } = process.env;
  const { manager } = await openManager({ home: cli.home, cwd, config, providers: [provider], env: { PATH } });
  const { conversation, conversationId: id } = await manager.newConversation({ model: "scripted" });
  for (const text of [...commands, "hello"]) await conversation.processMessage(text);
  await manager.shutdown();
  const cody = (command: string, ...args: string[]) => cli.run([command, id, ...args], { cwd });
  const file = (name: string) => readFile(join(cwd, name), "utf8").catch(() => undefined);
  return { cli, cwd, id, cody, file };
}

/** The first turn changes a file, the second creates one, and the third changes nothing. */
function openWithChanges() {
  return openAfterCommands(["sed -i s/one/two/ a.txt", "printf new > b.txt"], { "a.txt": "one\n" });
}

const firstTurnDiff = `diff --git a/a.txt b/a.txt
index 5626abf..f719efd 100644
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-one
+two
`;

test("diff shows the changes of all turns or of one, also as numbers", async () => {
  const { cody } = await openWithChanges();
  const whole = await cody("diff");
  expect(whole).toMatchObject({ code: 0, stderr: "" });
  expect(whole.stdout).toBe(`${firstTurnDiff}diff --git a/b.txt b/b.txt
new file mode 100644
index 0000000..3e5126c
--- /dev/null
+++ b/b.txt
@@ -0,0 +1 @@
+new
\\ No newline at end of file
`);
  expect((await cody("diff", "--turn", "1")).stdout).toBe(firstTurnDiff);
  expect((await cody("diff", "--stat")).stdout).toBe(
    "M  a.txt  (+1, -1)\nA  b.txt  (+1, -0)\n2 files changed, 2 additions, 1 deletion\n",
  );
  expect(await cody("diff", "--turn", "3")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "No file changes recorded for turn 3.\n",
  });
  expect(await cody("diff", "--turn", "4")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the last turn is 3"),
  });
});

test("diff --json prints the same data, and the active conversation is the default", async () => {
  const { cli, cody, cwd, id } = await openWithChanges();
  const { files_modified, files_created, summary } = JSON.parse((await cody("diff", "--json")).stdout);
  expect({ files_modified, files_created, additions: summary.total_additions }).toEqual({
    files_modified: ["a.txt"],
    files_created: ["b.txt"],
    additions: 2,
  });
  await cody("resume", "--provider", "offline", "--model", "offline");
  expect((await cli.run(["diff", "--stat"], { cwd })).stdout).toContain("2 files changed");
  expect(await cli.run(["diff", id, "--turn", "0"], { cwd })).toMatchObject({ code: 2 });
});

test("undo previews its changes, undoes one turn at a time, and can be undone", async () => {
  const { cody, file, id, cwd } = await openWithChanges();
  const preview = await cody("undo");
  expect(preview.stdout).toMatch(/^Undo of turn 2 \(.*\) in .*\/work would change:\n {2}D {2}b\.txt {2}\(\+0, -1\)\n/);
  expect(preview.stdout).toContain(`Nothing was changed. To apply: cody undo ${id} --yes\n`);
  expect(await file("b.txt")).toBe("new");
  expect((await cody("undo", "--yes")).stdout).toMatch(/^✓ Reverted turn 2 /);
  expect(await file("b.txt")).toBeUndefined();
  expect((await cody("undo", "--yes")).stdout).toMatch(/^✓ Reverted turn 1 /);
  expect(await file("a.txt")).toBe("one\n");
  expect(await cody("undo", "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No changes to undo"),
  });
  expect((await cody("diff")).stdout).toBe("");
  expect((await cody("undo", "--undo", "--yes")).stdout).toMatch(/^✓ Reverted the undo of turn 1 /);
  expect(await file("a.txt")).toBe("two\n");
  expect(await readdir(cwd)).toEqual(["a.txt"]);
});

test("undo restores a moved folder and reports files that remain in the new one", async () => {
  const { cwd, cody } = await openAfterCommands(["mv a b"], { "a/x": "one\n", "a/deep/y": "two\n" });
  await mkdir(join(cwd, "b", "node_modules"));
  expect((await cody("undo")).stdout).toContain("  b/: kept, because it contains other files\n");
  expect(await cody("undo", "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("  b/: kept, because it contains other files\n"),
  });
  const names = (await readdir(cwd, { recursive: true })).toSorted();
  expect(names).toEqual(["a", "a/deep", "a/deep/y", "a/x", "b", "b/node_modules"]);
});

test("diff marks undone turns and still shows them", async () => {
  const { cody } = await openWithChanges();
  await cody("undo", "--turn", "1", "--yes");
  expect(await cody("diff", "--stat")).toMatchObject({
    stdout: expect.stringMatching(/^A  b\.txt .*\n1 file changed/),
    stderr: expect.stringMatching(/^Reverted: turn 1 \([^)]+\)\.\n$/),
  });
  await cody("undo", "--yes");
  const taken = /^Reverted: turn 1 \([^)]+\), turn 2 \([^)]+\)\.\nAll file changes have been reverted\.\n$/;
  expect(await cody("diff")).toMatchObject({ code: 0, stdout: "", stderr: expect.stringMatching(taken) });
  expect(await cody("diff", "--turn", "1")).toMatchObject({
    stdout: firstTurnDiff,
    stderr: expect.stringMatching(/^Reverted: turn 1 \([^)]+\)\.\n$/),
  });
  await cody("undo", "--undo", "--yes");
  expect((await cody("diff")).stderr).toMatch(/^Reverted: turn 1 \([^)]+\)\.\n$/);
});

test("a file changed since blocks undo, and --overwrite restores it and keeps a copy", async () => {
  const { cody, file, cwd, id } = await openWithChanges();
  await writeFile(join(cwd, "a.txt"), "mine\n");
  const preview = await cody("undo", "--turn", "1");
  expect(preview.stdout).toContain("  ✗ a.txt: has changed since\n");
  const help = `To also restore files that changed since: cody undo ${id} --turn 1 --overwrite --yes\n`;
  expect(preview.stdout).toContain(help);
  const refused = await cody("undo", "--turn", "1", "--yes");
  expect(refused.stdout).toMatch(/^Nothing was changed. Cannot undo turn 1 \(.*\):\n/);
  expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining(`✗ a.txt: has changed since\n${help}`) });
  expect(await file("a.txt")).toBe("mine\n");
  expect(await cody("undo", "--turn", "1", "--yes", "--overwrite")).toMatchObject({ code: 0 });
  expect(await file("a.txt")).toBe("one\n");
  await cody("undo", "--undo", "--yes");
  expect(await file("a.txt")).toBe("mine\n");
});

test("undo says how to resolve each conflict, and offers --overwrite only where it helps", async () => {
  const { cli, cody, cwd, id } = await openAfterCommands(["rm a; echo two > b"], { a: "one\n", b: "one\n" });
  const help = async () =>
    (await cody("undo")).stdout
      .split("\n")
      .at(-2)
      ?.replace(/^Nothing .* block the undo\. /, "");
  await mkdir(join(cwd, "a"));
  expect(await help()).toBe("Move the files or folders in the way elsewhere, then try again.");
  await writeFile(join(cwd, "b"), "mine\n");
  expect(await help()).toBe(
    `Move the files or folders in the way elsewhere, then try again. To also restore files that changed since: cody undo ${id} --overwrite --yes`,
  );
  await rename(cwd, `${cwd}.moved`);
  await symlink(`${cwd}.moved`, cwd);
  expect(await help()).toBe(`To undo this, restore this folder first: ${cwd}`);
  await rm(cwd);
  await rename(`${cwd}.moved`, cwd);
  const folder = join(cli.conversations, `${id}.jsonl.snapshots`);
  for (const name of await readdir(folder)) if (name.length === 64) await rm(join(folder, name));
  await rm(join(cwd, "a"), { recursive: true });
  expect(await help()).toBe("This can no longer be undone. Look for the old files in git or in a backup.");
});

test("the changes of a turn whose process was killed can be shown and undone", async () => {
  const cli = await Cli.open();
  const cwd = join(cli.project, "work");
  await mkdir(cwd);
  await writeFile(join(cwd, "a.txt"), "one\n");
  const child = cli.start(["chat", "run echo two > a.txt; sleep 60", "--sandbox", "danger-full-access"], { cwd });
  await expect.poll(() => readFile(join(cwd, "a.txt"), "utf8"), { timeout: 20_000 }).toBe("two\n");
  child.kill("SIGKILL");
  await once(child, "close");
  expect((await cli.run(["diff"], { cwd })).stdout).toBe(firstTurnDiff);
  await writeFile(join(cwd, "mine.txt"), "written since\n");
  // Undo only what was shown: the user may have made changes since.
  expect(await cli.run(["undo", "--yes"], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("mine.txt"),
    stderr: expect.stringContaining("The process of the last turn died"),
  });
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("two\n");
  expect(await cli.run(["undo", "--yes"], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("✓ Reverted turn 1"),
  });
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("one\n");
});

test("undo does not write through a symlink or when the old content is gone", async () => {
  const { cli, cwd, id, cody } = await openAfterCommands(["sed -i s/one/two/ dir/a"], { "dir/a": "one\n" });
  const outside = join(cli.project, "outside");
  await mkdir(outside);
  await rm(join(cwd, "dir"), { recursive: true });
  await writeFile(join(outside, "a"), "two\n");
  await symlink(outside, join(cwd, "dir"));
  const refused = await cody("undo", "--yes", "--overwrite");
  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("✗ dir/a: something else exists at this path"),
  });
  expect(await readFile(join(outside, "a"), "utf8")).toBe("two\n");
  await rm(join(cwd, "dir"));
  await mkdir(join(cwd, "dir"));
  await writeFile(join(cwd, "dir", "a"), "two\n");
  const folder = join(cli.conversations, `${id}.jsonl.snapshots`);
  for (const name of await readdir(folder)) if (name.length === 64) await writeFile(join(folder, name), "garbled");
  const gone = await cody("undo", "--yes");
  expect(gone).toMatchObject({ code: 1, stdout: expect.stringContaining("its saved content is gone") });
  expect(await readFile(join(cwd, "dir", "a"), "utf8")).toBe("two\n");
});

test("the stored changes go to the trash with the conversation and are restored with it", async () => {
  const { cli, cody, cwd, id } = await openWithChanges();
  await cli.run(["clean", "--all"], { cwd });
  expect((await readdir(cli.conversations)).filter((name) => name.startsWith(id))).toEqual([]);
  await cody("undelete");
  expect((await cody("diff", "--turn", "1")).stdout).toBe(firstTurnDiff);
});

test("the prompt shows the changes of a turn in a box, and /diff shows them again", async () => {
  const terminal = await FakeTerminal.open(
    scripted([calls("write_file", "c1", { path: "new.txt", content: "hello\n" }), says("Done.")]),
  );
  const running = terminal.run("--sandbox", "danger-full-access");
  await terminal.shows("› ");
  terminal.type("go\r");
  await terminal.shows(
    [
      "╭───────────────────────────────────╮",
      "│ Changes This Turn                 │",
      "├───────────────────────────────────┤",
      "│ Created:                          │",
      "│   • new.txt                       │",
      "│                                   │",
      "│ Total: 1 addition, 0 deletions    │",
      "╰───────────────────────────────────╯",
    ].join("\n"),
  );
  terminal.type("/diff 1\r");
  await terminal.shows(
    "A  new.txt  (+1, -0)\n1 file changed, 1 addition, 0 deletions\n\ndiff --git a/new.txt b/new.txt\n",
  );
  terminal.type("/exit\r");
  expect(await running).toBe(0);
  expect((terminal.screen + terminal.errors).match(/Changes This Turn/g)).toHaveLength(1);
});

test("chat shows the change box once, and nothing when no file changed", async () => {
  const cli = await Cli.open();
  const chat = ["chat", "--sandbox", "danger-full-access"];
  const { code, stdout, stderr } = await cli.run([...chat, "write new.txt: hello"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining("│") });
  expect(stderr.match(/│ Changes This Turn +│/g)).toHaveLength(1);
  expect(stderr).toMatch(/│ Created: +│\n│ {3}• new\.txt +│\n/);
  expect((await cli.run([...chat, "read new.txt"])).stderr).not.toContain("│");
  const json = await cli.run([...chat, "--json", "write other.txt: hello"]);
  expect(json.stdout + json.stderr).not.toContain("│");
});

test("/undo shows a preview, asks, and restores only after yes", async () => {
  const terminal = await FakeTerminal.open(
    scripted([calls("write_file", "c1", { path: "new.txt", content: "hello\n" }), says("Done.")]),
  );
  const running = terminal.run("--sandbox", "danger-full-access");
  await terminal.shows("› ");
  terminal.type("/undo\r");
  await terminal.shows("No changes to undo.");
  terminal.type("go\r");
  await terminal.shows("Changes This Turn");
  terminal.type("/undo\r");
  await terminal.shows("  D  new.txt  (+0, -1)\n  1 file changed, 0 additions, 1 deletion\n");
  await terminal.shows("Restore these files? y/n › ");
  terminal.type("\r");
  await terminal.shows("Nothing was changed.");
  terminal.type("/undo\r");
  await terminal.shows("Restore these files? y/n › ");
  terminal.type("y\r");
  await terminal.shows("Reverted the last turn that changed files, in ");
  await terminal.shows(":\n  new.txt\n");
  terminal.type("/undo\r");
  await terminal.shows("No changes to undo.");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
});

test("/undo without a terminal only prints the preview and the command to run", async () => {
  const { cli, id, cwd, file } = await openWithChanges();
  const model = ["--provider", "offline", "--model", "offline"];
  const { stdout } = await cli.run(["--resume", id, ...model], { cwd, input: "/undo\n" });
  expect(stdout).toContain("  D  b.txt  (+0, -1)\n");
  expect(stdout).toContain(`Nothing was changed. To apply: cody undo ${id} --yes\n`);
  expect(await file("b.txt")).toBe("new");
});

test("/undo lists the conflicting files and does not ask", async () => {
  const { cli, id, cwd, file } = await openWithChanges();
  await writeFile(join(cwd, "b.txt"), "mine");
  const model = ["--provider", "offline", "--model", "offline"];
  const { stdout } = await cli.run(["--resume", id, ...model], { cwd, input: "/undo\n" });
  expect(stdout).toContain("  ✗ b.txt: has changed since\n");
  expect(stdout).toContain(`cody undo ${id} --overwrite --yes\n`);
  expect(await file("b.txt")).toBe("mine");
});
