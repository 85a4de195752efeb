import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readExcludes } from "../../src/changes/workspace/snapshot.js";
import { defaultLimits, walk } from "../../src/changes/workspace/walk.js";
import { gitUser } from "../../src/base/git/git-user.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);
const rounds = Number(process.env["CODY_IGNORE_ROUNDS"] ?? 300);

// ASCII only: git matches `?` with one byte.
const name = fc.constantFrom("a", "b", "A", "ab", "a.txt", "b.txt", "dir", "deep", "build", ".hidden", "a b", "#x");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
const part = fc.oneof(name, fc.constantFrom("*", "**", "*.txt", "a*", "?", "[ab]", "[!a]*", "\\#x", "b\\ld", "*i*"));
const rule = fc
  .record({
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    before: fc.constantFrom("", "", "", "/", "!", "!/", "**/", "# "),
    after: fc.constantFrom("", "", "", "/", "/*", "/**", "  ", "\r"),
  })
  .map(({ parts, before, after }) => `${before}${parts.join("/")}${after}`);
const rules = fc.array(rule, { maxLength: 4 }).map((lines) => lines.join("\n"));
const place = fc.oneof(fc.constant(""), path);

test("the tracked files equal those of git ls-files, for ignore rules from any source", async () => {
  let found = 0;
  let ignored = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, { minLength: 1, maxLength: 15 }),
      fc.array(fc.tuple(place, rules), { maxLength: 3 }),
      fc.record({ exclude: rules, global: rules, usual: rules, isNamed: fc.boolean() }),
      async (files, ignores, { exclude, global, usual, isNamed }) => {
        const folder = await temporaryFolder();
        const [root, home] = [join(folder, "root"), join(folder, "home")];
        await mkdir(join(home, ".config", "git"), { recursive: true });
        const env = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
        await run("git", ["init", "-q", root], { env });
        for (const file of files) await put(join(root, file), "");
        for (const [where, text] of ignores) await put(join(root, where, ".gitignore"), text);
        await put(join(root, ".git", "info", "exclude"), exclude);
        await put(join(home, ".config", "git", "ignore"), usual);
        await put(join(home, "global ignore"), global);
        if (isNamed) await put(join(home, ".gitconfig"), '[core]\n\texcludesFile = "~/global ignore" # mine\n');
        const { stdout } = await run("git", ["ls-files", "-o", "--exclude-standard", "-z"], { cwd: root, env });
        const user = gitUser({ env, homedir: () => home });
        const where = { root, outside: [], limits: defaultLimits, secrets: [] };
        const ours = walk({ ...where, excludes: readExcludes(root, user) }).map((file) => file.path);
        expect(ours.toSorted()).toEqual(stdout.split("\0").slice(0, -1).toSorted());
        found += ours.length;
        ignored += walk({ ...where, readRules: () => "" }).length - ours.length;
        await rm(folder, { recursive: true });
      },
    ),
    { numRuns: rounds, endOnFailure: true },
  );
  console.log(`${rounds} repositories: ${found} files tracked, ${ignored} ignored`);
}, 1_200_000);

/** Writes the file unless its path is a folder or goes through a file. */
async function put(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch {
    return;
  }
}
