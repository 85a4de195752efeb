import { execFileSync } from "node:child_process";
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile as put,
} from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFile as readTool } from "../../src/tools/read-file.js";
import { writeFile } from "../../src/tools/write-file.js";
import { openFilesIn } from "../support/open-files.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { approved, call, type TestContext, toolContext } from "./tool-context.js";
import { toolProcess } from "./tool-process.js";

async function write(context: TestContext, path: string, content = "new"): Promise<[string, boolean]> {
  const output = await call(writeFile, { path, content }, context);
  return [output.content.replaceAll(context.cwd, "~"), output.success];
}

const textOf = (context: TestContext, path: string): Promise<string> => readFile(join(context.cwd, path), "utf8");

test("a file is created with its missing folders", async () => {
  const context = await toolContext();
  expect(await write(context, "a/b/c.txt", "€")).toEqual(["Created ~/a/b/c.txt (3 bytes)", true]);
  expect(await textOf(context, "a/b/c.txt")).toBe("€");
  const { mode } = await stat(join(context.cwd, "a/b/c.txt"));
  expect(mode & 0o777).toBe(0o666 & ~process.umask());
  expect(await readdir(context.cwd, { recursive: true })).toEqual(["a", "a/b", "a/b/c.txt"]);
});

test("a file is replaced and keeps its permissions", async () => {
  const context = await toolContext();
  await put(join(context.cwd, "tool.sh"), "old");
  await chmod(join(context.cwd, "tool.sh"), 0o751);
  expect(await write(context, "tool.sh")).toEqual(["Replaced ~/tool.sh (3 bytes)", true]);
  expect(await textOf(context, "tool.sh")).toBe("new");
  expect((await stat(join(context.cwd, "tool.sh"))).mode & 0o777).toBe(0o751);
  expect(await write(context, "tool.sh", "1")).toEqual(["Replaced ~/tool.sh (1 byte)", true]);
});

describe("the approval request", () => {
  test.each([
    ["a/../b", "b"],
    ["notes.txt", ".git/hooks/pre-commit"],
    ["hooks/new/one", ".git/hooks/new/one"],
  ])("has the content, and for %s the real path %s", async (path, realPath) => {
    const context = await toolContext();
    await mkdir(join(context.cwd, ".git/hooks"), { recursive: true });
    await put(join(context.cwd, ".git/hooks/pre-commit"), "old");
    await symlink(".git/hooks/pre-commit", join(context.cwd, "notes.txt"));
    await symlink(".git/hooks", join(context.cwd, "hooks"));
    expect(await writeFile.command({ path, content: "text" }, context)).toEqual({
      argv: ["write_file", join(context.cwd, realPath), "text"],
      cwd: context.cwd,
      access: { type: "write", paths: [join(context.cwd, realPath)] },
    });
  });

  test.each([
    ["../outside", /^cannot write .*outside: .*outside is outside the working folder ~$/],
    ["pipe", /^cannot write ~\/pipe: it is a named pipe, not a regular file$/],
    ["dangling", /^cannot write ~\/dangling: ~\/dangling is a broken symbolic link$/],
    ["file/x", /^cannot write ~\/file\/x: a part of the path is not a folder$/],
  ])("is not made for a path that cannot be written: %s", async (path, problem) => {
    const context = await toolContext();
    execFileSync("mkfifo", [join(context.cwd, "pipe")]);
    await symlink("nowhere", join(context.cwd, "dangling"));
    await put(join(context.cwd, "file"), "");
    const asked = Promise.resolve(writeFile.command({ path, content: "text" }, context));
    const message = await asked.then(String, (error: Error) => error.message.replaceAll(context.cwd, "~"));
    expect(message).toMatch(problem);
  });

  test.each([
    ["a link to another target", "link"],
    ["a folder that became a link", "folder/file"],
  ])("is binding: %s is refused afterwards", async (_, path) => {
    const context = await toolContext();
    const at = (name: string): string => join(context.cwd, name);
    for (const folder of ["folder", "other"]) await mkdir(at(folder));
    for (const file of ["folder/file", "other/file"]) await put(at(file), "old");
    await symlink("folder/file", at("link"));
    const run = await approved(writeFile, { path, content: "new" }, context);
    await rename(at("folder"), at("moved"));
    await symlink("other", at("folder"));
    expect(await run()).toEqual({
      content: `cannot write ${at(path)}: the path's target changed after the approval request`,
      success: false,
    });
    expect(await Promise.all([textOf(context, "moved/file"), textOf(context, "other/file")])).toEqual(["old", "old"]);
  });
});

test("invalid and unknown arguments are refused", () => {
  const refused = [
    { path: "a" },
    { path: "", content: "" },
    { path: "a\0", content: "" },
    { path: "a", content: "", x: 1 },
  ];
  const tooLong = { path: "a", content: "€".repeat(3_333_334) };
  expect([...refused, tooLong].filter((args) => writeFile.parameters.safeParse(args).success)).toEqual([]);
});

describe("a file that changed since it was read", () => {
  const changed = "cannot write ~/file: it changed since it was read; read it again first";

  test("is not overwritten until it is read again", async () => {
    const context = await toolContext();
    const path = join(context.cwd, "file");
    await put(path, "one");
    await call(readTool, { path: "file" }, context);
    await put(path, "of another");
    expect(await write(context, "file")).toEqual([changed, false]);
    expect(await textOf(context, "file")).toBe("of another");
    await call(readTool, { path: "file" }, context);
    expect(await write(context, "file")).toEqual(["Replaced ~/file (3 bytes)", true]);
  });

  test.each([
    ["another file in its place", (path: string) => put(`${path}.2`, "one").then(() => rename(`${path}.2`, path))],
    ["the same size at another time", (path: string) => put(path, "two").then(() => utimes(path, 1, 1))],
  ])("is recognised by %s", async (_, change) => {
    const context = await toolContext();
    await put(join(context.cwd, "file"), "one");
    await call(readTool, { path: "file" }, context);
    await change(join(context.cwd, "file"));
    expect(await write(context, "file")).toEqual([changed, false]);
  });

  test("by being deleted is created again only on the second attempt", async () => {
    const context = await toolContext();
    await put(join(context.cwd, "file"), "one");
    await call(readTool, { path: "file" }, context);
    await rm(join(context.cwd, "file"));
    const deleted = "cannot write ~/file: it was deleted since it was read; write it again to create it";
    expect(await write(context, "file")).toEqual([deleted, false]);
    expect(await write(context, "file")).toEqual(["Created ~/file (3 bytes)", true]);
  });

  test("by write_file itself counts as read", async () => {
    const context = await toolContext();
    expect(await write(context, "file", "one")).toEqual(["Created ~/file (3 bytes)", true]);
    expect(await write(context, "file", "two")).toEqual(["Replaced ~/file (3 bytes)", true]);
    await put(join(context.cwd, "file"), "three");
    expect(await write(context, "file", "four")).toEqual([changed, false]);
  });

  test("is recognised by any path to it", async () => {
    const context = await toolContext();
    await put(join(context.cwd, "file"), "one");
    await symlink("file", join(context.cwd, "link"));
    await call(readTool, { path: "link" }, context);
    await put(join(context.cwd, "file"), "of another");
    expect(await write(context, "file")).toEqual([changed, false]);
  });
});

describe("a path outside the working folder", () => {
  test.each([
    ["..", () => "../outside"],
    ["an absolute path", (outside: string) => join(outside, "file")],
    ["a symbolic link to a file", () => "link"],
    ["a symbolic link to a folder", () => "folder/file"],
    ["a symbolic link in between", () => "folder/deep/er/file"],
    ["/proc", () => "/proc/self/cwd/../file"],
  ])("is not written through %s", async (_, pathIn) => {
    const [context, outside] = [await toolContext(), await temporaryFolder()];
    await put(join(outside, "file"), "old");
    await symlink(join(outside, "file"), join(context.cwd, "link"));
    await symlink(outside, join(context.cwd, "folder"));
    const [content, success] = await write(context, pathIn(outside));
    expect(content).toMatch(/^cannot write .*: .* is outside the working folder ~$/);
    expect(success).toBe(false);
    expect(await readFile(join(outside, "file"), "utf8")).toBe("old");
    expect(await readdir(outside)).toEqual(["file"]);
  });

  test("is written with full access", async () => {
    const outside = await temporaryFolder();
    const context = await toolContext({ sandbox: "danger-full-access" });
    await symlink(outside, join(context.cwd, "folder"));
    expect(await write(context, "folder/a/file")).toEqual([`Created ${outside}/a/file (3 bytes)`, true]);
  });

  test("is not a link to a path inside it", async () => {
    const context = await toolContext();
    await symlink(context.cwd, join(context.cwd, "self"));
    await put(join(context.cwd, "file"), "old");
    await symlink("file", join(context.cwd, "link"));
    expect(await write(context, "self/link")).toEqual(["Replaced ~/file (3 bytes)", true]);
    expect(await readlink(join(context.cwd, "link"))).toBe("file");
    const linked = await toolContext({ cwd: join(context.cwd, "self") });
    expect((await write(linked, "file"))[1]).toBe(true);
  });
});

describe("a path that is not a regular file", () => {
  test("is refused without waiting", async () => {
    const context = await toolContext();
    const at = (name: string): string => join(context.cwd, name);
    await mkdir(at("folder"));
    execFileSync("mkfifo", [at("pipe")]);
    await symlink("nowhere", at("dangling"));
    await symlink("loop", at("loop"));
    await put(at("file"), "");
    expect(
      await Promise.all(
        ["folder", ".", "pipe", "dangling", "dangling/x", "loop", "file/x"].map((path) => write(context, path)),
      ),
    ).toEqual([
      ["cannot write ~/folder: it is a folder, not a regular file", false],
      ["cannot write ~: it is a folder, not a regular file", false],
      ["cannot write ~/pipe: it is a named pipe, not a regular file", false],
      ["cannot write ~/dangling: ~/dangling is a broken symbolic link", false],
      ["cannot write ~/dangling/x: ~/dangling is a broken symbolic link", false],
      ["cannot write ~/loop: too many symbolic links, or a link that cannot be followed", false],
      ["cannot write ~/file/x: a part of the path is not a folder", false],
    ]);
    expect((await readdir(context.cwd)).toSorted()).toEqual(["dangling", "file", "folder", "loop", "pipe"]);
  });

  test("is refused with full access too", async () => {
    const context = await toolContext({ sandbox: "danger-full-access" });
    expect(await write(context, "/dev/null")).toEqual([
      "cannot write /dev/null: it is a device, not a regular file",
      false,
    ]);
    expect(await write(context, "/")).toEqual(["cannot write /: it is a folder, not a regular file", false]);
  });
});

test("a write replaces a hard link and leaves the other name unchanged", async () => {
  const [context, outside] = [await toolContext(), await temporaryFolder()];
  await put(join(outside, "file"), "old");
  await link(join(outside, "file"), join(context.cwd, "file"));
  expect(await write(context, "file")).toEqual(["Replaced ~/file (3 bytes)", true]);
  expect(await readFile(join(outside, "file"), "utf8")).toBe("old");
});

test("a concurrent reader sees the old or the new text, never a mixture", async () => {
  const context = await toolContext();
  const texts = ["a".repeat(300_000), "b".repeat(300_000)];
  await write(context, "file", texts[0]);
  const found = new Set<string>();
  for (let round = 0; round < 20; round += 1) {
    const [text] = await Promise.all([textOf(context, "file"), write(context, "file", texts[round % 2])]);
    found.add(text);
  }
  expect([...found].filter((text) => !texts.includes(text))).toEqual([]);
});

test("a process killed while it writes leaves a complete file", async () => {
  const content = "x".repeat(100_000);
  const writing = await toolProcess({ tool: "write_file", args: { path: "file", content }, forever: true });
  await writing.outputs.until(() => writing.outputs.seen.length > 20);
  writing.process.kill("SIGKILL");
  expect(await readFile(join(writing.cwd, "file"), "utf8")).toBe(content);
});

test("a write that fails midway leaves the old file and no temporary file", async () => {
  const args = { path: "file", content: "x".repeat(100_000) };
  const limits = "printf old >file; trap '' XFSZ; ulimit -f 8";
  const { cwd, outputs } = await toolProcess({ tool: "write_file", args }, limits);
  const { content, success } = await outputs.until(() => true);
  expect([content, success]).toEqual([`cannot write ${cwd}/file: the file would be too large`, false]);
  expect(await readdir(cwd)).toEqual(["file"]);
  expect(await readFile(join(cwd, "file"), "utf8")).toBe("old");
});

test("an interrupted call writes nothing", async () => {
  const context = await toolContext({ signal: AbortSignal.abort() });
  expect(await write(context, "folder/file")).toEqual(["cannot write ~/folder/file: interrupted", false]);
  expect(await readdir(context.cwd)).toEqual([]);
});

test("calls leave no open descriptor", async () => {
  const context = await toolContext();
  await mkdir(join(context.cwd, "folder"));
  for (const path of ["a/b/c", "folder", "../x", "a/b/c/d"]) await write(context, path);
  expect(openFilesIn(context.cwd)).toEqual([]);
});
