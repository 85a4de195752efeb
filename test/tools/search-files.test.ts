import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile as put } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listFiles } from "../../src/tools/list-files.js";
import { searchFiles } from "../../src/tools/search-files.js";
import { call, type TestContext, toolContext } from "./tool-context.js";
import { processOutput } from "./tool-process.js";

async function project(files: Readonly<Record<string, string>>, given = {}): Promise<TestContext> {
  const context = await toolContext(given);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(context.cwd, path, ".."), { recursive: true });
    await put(join(context.cwd, path), content);
  }
  return context;
}

const textOf = async (tool: typeof listFiles | typeof searchFiles, args: object, context: TestContext) =>
  (await call(tool, args, context)).content.replaceAll(context.cwd, "~");

const files = {
  ".gitignore": "*.log\nbuilt/\n",
  ".git/config": "needle",
  ".hidden": "needle",
  "a.log": "needle",
  "b.ts": "one\nneedle two\nthree Needle\n",
  "built/c.js": "needle",
  "src/d.js": "x(needle)\n",
  "src/.gitignore": "e.js",
  "src/e.js": "needle",
};

describe("list_files", () => {
  test("lists the files in order, without ignored files and .git", async () => {
    const context = await project(files);
    expect(await textOf(listFiles, {}, context)).toBe(".gitignore\n.hidden\nb.ts\nsrc/.gitignore\nsrc/d.js");
  });

  test("lists one folder, or the files that match a glob", async () => {
    const context = await project({ ...files, "-odd/f": "" });
    expect(await textOf(listFiles, { path: "src", glob: "*.js" }, context)).toBe("src/d.js");
    expect(await textOf(listFiles, { path: "-odd" }, context)).toBe("-odd/f");
    expect(await textOf(listFiles, { path: "src/d.js" }, context)).toBe("src/d.js");
    expect(await textOf(listFiles, { glob: "*.none" }, context)).toBe("[No files found.]");
    const other = await project(files);
    expect(await textOf(listFiles, { path: join(other.cwd, "src"), glob: "*.js" }, context)).toBe(
      join(other.cwd, "src/d.js"),
    );
  });

  test("notes when there are more files", async () => {
    const context = await project(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index + 10}`, ""])));
    const more = "[There are more files: narrow the search with a folder or a glob.]";
    expect(await textOf(listFiles, { limit: 2 }, context)).toBe(`f10\nf11\n${more}`);
    expect((await textOf(listFiles, { limit: 20 }, context)).split("\n")).toHaveLength(20);
  });

  test.each([
    ["a missing path", "x", "cannot list ~/x: it does not exist"],
    ["a named pipe", "pipe", "cannot list ~/pipe: it is a named pipe, not a regular file"],
    ["a system folder", "/proc/self", /^cannot list \/proc\/self: system files cannot be read$/],
    ["a link to a system folder", "system", "cannot list ~/system: system files cannot be read"],
  ])("refuses %s", async (_, path, problem) => {
    const context = await project({});
    execFileSync("mkfifo", [join(context.cwd, "pipe")]);
    await symlink("/sys", join(context.cwd, "system"));
    const { content, success } = await call(listFiles, { path }, context);
    expect(content.replaceAll(context.cwd, "~")).toEqual(expect.stringMatching(problem));
    expect(success).toBe(false);
  });

  test("lists symbolic links with their targets and does not follow them", async () => {
    const [context, other] = [await project({ a: "", "src/z": "" }), await project({ secret: "" })];
    await symlink(other.cwd, join(context.cwd, "link"));
    await mkdir(join(context.cwd, "only"));
    await symlink("../nowhere\u001b[31m", join(context.cwd, "only", "broken"));
    await symlink("z", join(context.cwd, "src", "y.ts"));
    const all = ["a", `link -> ${other.cwd}`, "only/broken -> ../nowhere\\033[31m", "src/y.ts -> z", "src/z"];
    expect((await call(listFiles, {}, context)).content).toBe(all.join("\n"));
    expect(await textOf(listFiles, { path: "src" }, context)).toBe("src/y.ts -> z\nsrc/z");
    expect(await textOf(listFiles, { glob: "*.ts" }, context)).toBe("src/y.ts -> z");
    expect(await textOf(listFiles, { limit: 1 }, context)).toBe(
      "a\n[There are more files: narrow the search with a folder or a glob.]",
    );
    expect(await textOf(searchFiles, { pattern: "secret" }, context)).toBe("[No line matches.]");
  });

  test("does not list ignored links and links in private folders", async () => {
    const keys = join((await project({})).cwd, "keys");
    const context = await project({ ".gitignore": "built\n*.log\n", "built/a": "" }, { privatePaths: [keys] });
    for (const name of ["a.log", "built/b"]) await symlink("x", join(context.cwd, name));
    await mkdir(keys);
    await symlink("x", join(keys, "link"));
    expect(await textOf(listFiles, {}, context)).toBe(".gitignore");
    expect(await textOf(listFiles, { path: join(keys, "..") }, context)).toBe("[No files found.]");
  });
});

describe("search_files", () => {
  test("returns the matching lines with file and line number", async () => {
    const context = await project(files);
    expect(await textOf(searchFiles, { pattern: "ne+dle" }, context)).toBe(
      ".hidden:1:needle\nb.ts:2:needle two\nsrc/d.js:1:x(needle)",
    );
  });

  test.each([
    [{ pattern: "x(needle)", literal: true }, "src/d.js:1:x(needle)"],
    [{ pattern: "needle", ignore_case: true, path: "b.ts" }, "b.ts:2:needle two\nb.ts:3:three Needle"],
    [{ pattern: "needle", context: 1, glob: "b.*" }, "b.ts-1-one\nb.ts:2:needle two\nb.ts-3-three Needle"],
    [{ pattern: "nothing" }, "[No line matches.]"],
    [{ pattern: "--files" }, "[No line matches.]"],
    [
      { pattern: "needle", limit: 1 },
      ".hidden:1:needle\n[There are more matches: narrow the search with a folder, a glob or a longer pattern.]",
    ],
  ])("with %j returns %j", async (args, expected) => {
    expect(await textOf(searchFiles, args, await project(files))).toBe(expected);
  });

  test("reports the error in an invalid pattern", async () => {
    const { content, success } = await call(searchFiles, { pattern: "a(" }, await project(files));
    expect(content).toContain("unclosed group");
    expect(success).toBe(false);
  });

  test("never searches .git, and never takes a pattern or glob for a flag", async () => {
    const context = await project(files);
    expect(await textOf(searchFiles, { pattern: "needle", glob: ".git/**" }, context)).toBe("[No line matches.]");
    await put(join(context.cwd, "run"), `#!/bin/sh\ntouch ${context.cwd}/ran\n`);
    await chmod(join(context.cwd, "run"), 0o755);
    await textOf(searchFiles, { pattern: "--pre=./run", glob: "--pre=./run" }, context);
    expect(await textOf(listFiles, { glob: "ran" }, context)).toBe("[No files found.]");
  });

  test("truncates long lines and long results", async () => {
    const context = await project({ long: `${"x".repeat(100_000)}\n`, many: "x\n".repeat(100_000) });
    const long = await textOf(searchFiles, { pattern: "x", path: "long" }, context);
    expect(long).toMatch(/^long:1:x{400} \[\.\.\. .*\]$/);
    expect((await textOf(searchFiles, { pattern: "x", limit: 1_000 }, context)).length).toBeLessThan(40_000);
  });

  test("reports an interruption", async () => {
    const abort = new AbortController();
    abort.abort();
    const context = await project(files, { signal: abort.signal });
    expect(await textOf(searchFiles, { pattern: "x" }, context)).toBe("cannot search ~: interrupted");
  });
});

test("without a ripgrep for the system, the output names shell commands to use instead", async () => {
  const { content, success } = await processOutput({ tool: "list_files", args: {} }, "export npm_config_arch=none");
  expect(content).toContain("ripgrep is not available on this system; run ls, find or grep with shell instead");
  expect(success).toBe(false);
});
