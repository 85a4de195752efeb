import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rename, stat, symlink, writeFile as put } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applyPatch } from "../../src/tools/apply-patch.js";
import { readFile as readTool } from "../../src/tools/read-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { approved, call, type TestContext, toolContext } from "./tool-context.js";

const patch = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

async function apply(context: TestContext, ...lines: string[]): Promise<[string, boolean]> {
  const output = await call(applyPatch, { input: patch(...lines) }, context);
  return [output.content.replaceAll(context.cwd, "~"), output.success];
}

/** The content of every file below a folder, by its relative path; folders are "/". */
async function tree(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const content = entry.isFile() ? await readFile(path, "utf8") : entry.isDirectory() ? "/" : "?";
    return [path.slice(folder.length + 1), content] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

async function folderWith(files: Readonly<Record<string, string>>, given = {}): Promise<TestContext> {
  const context = await toolContext(given);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(context.cwd, path, ".."), { recursive: true });
    await put(join(context.cwd, path), content);
  }
  return context;
}

test("a patch adds, updates, moves and deletes files", async () => {
  const context = await folderWith({ "a.txt": "one\ntwo\n", "b.txt": "b\n", "c.txt": "c\n" });
  const output = await apply(
    context,
    "*** Add File: new/deep/file",
    "+text",
    "*** Update File: a.txt",
    " one",
    "-two",
    "+2",
    "*** Update File: b.txt",
    "*** Move to: moved/b.txt",
    "-b",
    "+B",
    "*** Delete File: c.txt",
  );
  const done = ["A new/deep/file", "M a.txt", "M moved/b.txt", "D c.txt"];
  expect(output).toEqual([["Success. Updated the following files:", ...done].join("\n"), true]);
  expect(await tree(context.cwd)).toEqual({
    "a.txt": "one\n2\n",
    moved: "/",
    "moved/b.txt": "B\n",
    new: "/",
    "new/deep": "/",
    "new/deep/file": "text\n",
  });
});

test("updated and moved files keep their permissions", async () => {
  const context = await folderWith({ a: "a\n", b: "b\n" });
  for (const name of ["a", "b"]) await chmod(join(context.cwd, name), 0o750);
  await apply(context, "*** Update File: a", "-a", "+A", "*** Update File: b", "*** Move to: c");
  const modes = ["a", "c"].map(async (name) => (await stat(join(context.cwd, name))).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o750, 0o750]);
});

test("events report the changes to the files", async () => {
  const context = await folderWith({ a: "a\n", b: "b\n" });
  await apply(
    context,
    "*** Add File: new",
    "+x",
    "*** Update File: a",
    "*** Move to: c",
    "-a",
    "+A",
    "*** Delete File: b",
  );
  const at = (name: string): string => join(context.cwd, name);
  const [call_id, turn_id] = ["call_1", "turn_1"];
  expect(context.events.seen).toEqual([
    {
      type: "patch_apply_begin",
      call_id,
      turn_id,
      auto_approved: true,
      changes: {
        [at("new")]: { type: "add", content: "x\n" },
        [at("a")]: { type: "update", unified_diff: "@@ -1 +1 @@\n-a\n+A\n", move_path: at("c") },
        [at("b")]: { type: "delete", content: "b\n" },
      },
    },
    {
      type: "patch_apply_end",
      call_id,
      turn_id,
      stdout: "Success. Updated the following files:\nA new\nM c\nD b",
      stderr: "",
      success: true,
      status: "completed",
    },
  ]);
});

describe("the patch is not applied", () => {
  const files = { a: "a\n", b: "b\n", "folder/f": "f\n" };
  const bad = "apply_patch verification failed: ";

  test.each([
    ["its lines are not in the file", ["*** Update File: b", "-x"], `${bad}b: these lines are not in it:\nx`],
    ["a file is missing", ["*** Delete File: x"], `${bad}x: it does not exist`],
    ["a file to add exists", ["*** Add File: b", "+x"], `${bad}b: the file already exists: update or delete it`],
    [
      "the target of a move exists",
      ["*** Update File: b", "*** Move to: folder/f"],
      `${bad}folder/f: the file already exists: update or delete it`,
    ],
    [
      "a file is named twice",
      ["*** Update File: ./a", "-a"],
      `${bad}~/a is listed twice: put all its changes in one place`,
    ],
    ["a file is a folder", ["*** Delete File: folder"], `${bad}folder: it is a folder, not a regular file`],
    ["an update changes nothing", ["*** Update File: b", "-b", "+b"], `${bad}b: the patch changes nothing in it`],
    [
      "a path is too long",
      [`*** Add File: ${"x".repeat(300)}`, "+x"],
      `${bad}${"x".repeat(300)}: the name is too long`,
    ],
  ])("when %s", async (_, lines, problem) => {
    const context = await folderWith(files);
    expect(await apply(context, "*** Update File: a", "-a", "+A", ...lines)).toEqual([problem, false]);
    expect(context.events.seen).toEqual([]);
    expect(await tree(context.cwd)).toEqual({ ...files, folder: "/" });
  });

  test.each([
    ["a binary file", Buffer.from([0x61, 0, 0x62])],
    ["a file that is not UTF-8", Buffer.from([0x61, 0xff, 0x0a])],
  ])("with %s", async (_, content) => {
    const context = await folderWith({});
    await put(join(context.cwd, "x"), content);
    expect(await apply(context, "*** Delete File: x")).toEqual([`${bad}x: it is not UTF-8 text`, false]);
  });

  test("with files over the size limit", async () => {
    const context = await folderWith({ x: "x".repeat(8_000_001) });
    const [problem] = await apply(context, "*** Delete File: x");
    expect(problem).toBe(`${bad}x: the files of a patch can have at most 8000000 bytes in total`);
  });

  test.each([
    ["a named pipe", "pipe", "it is a named pipe, not a regular file"],
    ["a broken symbolic link", "dangling", "~/dangling is a broken symbolic link"],
    ["a link to a path outside the working folder", "outside", "/etc/hostname is outside the working folder ~"],
    ["a relative path outside the working folder", "../x", "/x is outside the working folder ~"],
    ["an absolute path", "/etc/cody-test", "/etc/cody-test is outside the working folder ~"],
  ])("with %s", async (_, path, problem) => {
    const context = await folderWith({});
    execFileSync("mkfifo", [join(context.cwd, "pipe")]);
    await symlink("nowhere", join(context.cwd, "dangling"));
    await symlink("/etc/hostname", join(context.cwd, "outside"));
    for (const lines of [[`*** Add File: ${path}`, "+x"], [`*** Delete File: ${path}`]]) {
      const [text] = await apply(context, ...lines);
      expect(text.replace(/\/\S*\/x is outside/, "/x is outside")).toBe(`${bad}${path}: ${problem}`);
    }
  });

  test("when one file cannot be written, and the files already written are restored", async () => {
    const context = await folderWith(files);
    // The last file cannot be written, because the patch has created a folder with its name.
    const lines = ["*** Update File: a", "-a", "+A", "*** Add File: new/in/x", "+x", "*** Add File: new", "+y"];
    const [text, success] = await apply(context, ...lines);
    expect([text, success]).toEqual(["The patch was not applied: ~/new: it is a folder, not a regular file", false]);
    expect(await tree(context.cwd)).toEqual({ ...files, folder: "/" });
    expect(context.events.seen.at(-1)).toMatchObject({ type: "patch_apply_end", success: false, status: "failed" });
  });

  test("when the turn was interrupted", async () => {
    const abort = new AbortController();
    const context = await folderWith(files, { signal: abort.signal });
    const run = await approved(applyPatch, { input: patch("*** Delete File: a") }, context);
    abort.abort();
    expect(await run()).toEqual({ content: "The patch was not applied: interrupted", success: false });
    expect(await tree(context.cwd)).toEqual({ ...files, folder: "/" });
  });
});

describe("a file that changed", () => {
  test("since it was read is not patched until it is read again", async () => {
    const context = await folderWith({ a: "a\nb\n", c: "c\n" });
    const lines = ["*** Update File: c", "-c", "+C", "*** Update File: a", "-a", "+A"];
    await call(readTool, { path: "a" }, context);
    await put(join(context.cwd, "a"), "a\nof another\n");
    const problem = "The patch was not applied: ~/a changed since it was read; read it again first";
    expect(await apply(context, ...lines)).toEqual([problem, false]);
    expect(await tree(context.cwd)).toEqual({ a: "a\nof another\n", c: "c\n" });
    await call(readTool, { path: "a" }, context);
    expect((await apply(context, ...lines))[1]).toBe(true);
    expect((await apply(context, "*** Update File: a", "-A", "+a"))[1]).toBe(true);
  });

  test("since the approval request is not patched", async () => {
    const context = await folderWith({ a: "x\na\n" });
    const run = await approved(applyPatch, { input: patch("*** Update File: a", "-a", "+A") }, context);
    await put(join(context.cwd, "a"), "other\nlines\na\n");
    const problem = "the files changed after the approval request; read them again";
    expect(await run()).toEqual({ content: `The patch was not applied: ${problem}`, success: false });
    expect(await tree(context.cwd)).toEqual({ a: "other\nlines\na\n" });
  });

  test("into a symbolic link to another folder is not followed", async () => {
    const [context, outside] = [await folderWith({ "folder/a": "a\n" }), await temporaryFolder()];
    await put(join(outside, "a"), "a\n");
    const run = await approved(applyPatch, { input: patch("*** Update File: folder/a", "-a", "+A") }, context);
    await rename(join(context.cwd, "folder"), join(context.cwd, "kept"));
    await symlink(outside, join(context.cwd, "folder"));
    expect((await run()).success).toBe(false);
    expect([await tree(outside), (await tree(context.cwd))["kept/a"]]).toEqual([{ a: "a\n" }, "a\n"]);
  });
});

test("the approval request has the resulting changes by the real paths of the files", async () => {
  const context = await folderWith({ "real/a": "a\n" });
  await symlink("real", join(context.cwd, "link"));
  const input = patch("*** Update File: link/a", "-a", "+A");
  const path = join(context.cwd, "real/a");
  expect(await applyPatch.command({ input }, context)).toEqual({
    argv: ["apply_patch", input, path],
    cwd: context.cwd,
    changes: { [path]: { type: "update", unified_diff: "@@ -1 +1 @@\n-a\n+A\n", move_path: null } },
    access: { type: "write", paths: [path] },
  });
});
