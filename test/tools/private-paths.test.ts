import { mkdir, readFile as contentOf, realpath, symlink, writeFile as put } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveHomes, privatePaths } from "../../src/config/paths.js";
import { applyPatch } from "../../src/tools/apply-patch.js";
import { listFiles } from "../../src/tools/list-files.js";
import { readFile } from "../../src/tools/read-file.js";
import { searchFiles } from "../../src/tools/search-files.js";
import type { Tool } from "../../src/tools/tool.js";
import { viewImage } from "../../src/tools/view-image.js";
import { writeFile } from "../../src/tools/write-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { call, type TestContext, toolContext } from "./tool-context.js";

const refused = "tools cannot access tokens, keys and settings of cody and other programs";
const secretFiles = [
  ".cody/tokens.json",
  ".cody/tokens.json.1.tmp",
  ".cody/config.json",
  ".cody/config.yaml",
  ".cody/trust.json",
  ".cody/logs/cody.log",
  ".cody/workspaces/one/tree",
  ".codex/auth.json",
  ".claude/.credentials.json",
];

/** A home directory with all private files and a project folder. */
async function userFolder(): Promise<string> {
  const user = await realpath(await temporaryFolder());
  for (const path of [...secretFiles, ".cody/AGENTS.md", ".codex/config.toml", "project/tokens.json"]) {
    await mkdir(join(user, path, ".."), { recursive: true });
    await put(join(user, path), "canary\n");
  }
  return user;
}

async function contextOf(user: string, cwd: string, home = join(user, ".cody")): Promise<TestContext> {
  const paths = privatePaths(resolveHomes({ home, env: {}, homedir: () => user }));
  return await toolContext({ cwd, privatePaths: paths, sandbox: "danger-full-access" });
}

const patchOf = (path: string): string => `*** Begin Patch\n*** Update File: ${path}\n-canary\n+mine\n*** End Patch`;

const readTools: readonly Tool[] = [readFile, viewImage, listFiles, searchFiles];

describe("a file with tokens, keys or settings", () => {
  test.each(secretFiles)("is not read: %s", async (path) => {
    const user = await userFolder();
    const context = await contextOf(user, join(user, "project"));
    await symlink(join(user, path), join(context.cwd, "link"));
    for (const tool of readTools) {
      for (const given of [join("..", path), "link"]) {
        const args = { path: given, ...(tool === searchFiles ? { pattern: "canary" } : {}) };
        const { content, success } = await call(tool, args, context);
        expect({ content, success }).toEqual({ content: expect.stringMatching(`${refused}$`), success: false });
      }
    }
  });

  test.each(secretFiles)("is not written: %s", async (path) => {
    const user = await userFolder();
    const context = await contextOf(user, join(user, "project"));
    await symlink(join(user, path), join(context.cwd, "link"));
    for (const given of [join("..", path), "link"]) {
      expect((await call(writeFile, { path: given, content: "mine" }, context)).content).toMatch(refused);
      expect((await call(applyPatch, { input: patchOf(given) }, context)).content).toMatch(refused);
    }
    expect(await contentOf(join(user, path), "utf8")).toBe("canary\n");
  });

  test("is not created where it is missing", async () => {
    const user = await userFolder();
    const context = await contextOf(user, join(user, "project"), join(user, "new"));
    const { content } = await call(writeFile, { path: "../new/config.json", content: "{}" }, context);
    expect(content).toMatch(refused);
  });

  test("is not found by a search in a parent folder, with any working folder and glob", async () => {
    const user = await userFolder();
    const found = [".cody/AGENTS.md", ".codex/config.toml", "project/tokens.json"];
    for (const [cwd, path] of [
      [user, "."],
      [user, user],
      [join(user, "project"), ".."],
      [join(user, ".cody"), user],
      [join(user, ".cody/logs"), user],
    ] as const) {
      const context = await contextOf(user, cwd);
      for (const glob of [undefined, "*.json", "**/*"]) {
        const given = { path, ...(glob === undefined ? {} : { glob }) };
        const { content: listed } = await call(listFiles, given, context);
        const { content: searched } = await call(searchFiles, { ...given, pattern: "canary" }, context);
        const lines = [...listed.split("\n"), ...searched.replaceAll(":1:canary", "").split("\n")];
        const paths = lines.filter((line) => !line.startsWith("["));
        expect(found).toEqual(expect.arrayContaining(paths.map((line) => relative(user, resolve(cwd, line)))));
      }
      expect((await call(listFiles, { path }, context)).content.split("\n")).toHaveLength(found.length);
    }
  });

  test("is protected when home is a link and the path has glob characters", async () => {
    const user = await userFolder();
    await mkdir(join(user, "project/a[b]{c}*"));
    await put(join(user, "project/a[b]{c}*/tokens.json"), "canary\n");
    await symlink(join(user, "project/a[b]{c}*"), join(user, "home"));
    const context = await contextOf(user, join(user, "project"), join(user, "home"));
    expect((await call(readFile, { path: "a[b]{c}*/tokens.json" }, context)).content).toMatch(refused);
    expect((await call(searchFiles, { pattern: "canary" }, context)).content).toBe("tokens.json:1:canary");
  });

  test("is not confused with files of similar names", async () => {
    const user = await userFolder();
    const context = await contextOf(user, join(user, "project"));
    for (const path of ["tokens.json", "../.cody/AGENTS.md", "../.codex/config.toml"]) {
      expect(await call(readFile, { path }, context)).toMatchObject({ content: "canary\n" });
    }
  });
});
