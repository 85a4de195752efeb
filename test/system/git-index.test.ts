import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contentHash, readGitIndex } from "../../src/base/git/git-index.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const formats = ["sha1", "sha256"].flatMap((algorithm) => ["2", "3", "4"].map((version) => ({ algorithm, version })));

test.each(formats)("an index of version $version with $algorithm is read as git reads it", async (format) => {
  const folder = await temporaryFolder();
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: folder }).toString();
  git("init", "-q", `--object-format=${format.algorithm}`);
  git("config", "index.version", format.version);
  for (let length = 1; length < 40; length += 1) {
    const path = join("d".repeat(length % 5), `${"é".repeat(length)}.pem`);
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), `content ${length}\n`);
  }
  const deep = join("x".repeat(200), "y".repeat(200), "z".repeat(200));
  await mkdir(join(folder, deep), { recursive: true });
  await Promise.all(["a", "aa"].map((name) => writeFile(join(folder, deep, name.repeat(100)), name)));
  git("add", "-A");
  await writeFile(join(folder, "later"), "");
  // Such an entry needs version 3.
  if (format.version === "3") git("add", "--intent-to-add", "later");
  const expected = git("ls-files", "-s", "-z")
    .split("\0")
    .flatMap((line) => {
      const [, hash, path] = /^\d+ (\w+) \d\t(.*)$/s.exec(line) ?? [];
      return hash === undefined || path === undefined ? [] : [[path, hash] as const];
    });
  const index = await readGitIndex(folder);
  expect([...(index?.hashes ?? [])]).toEqual(expected);
  expect(index?.algorithm).toBe(format.algorithm);
  expect(index?.hashes.get("ééééé.pem")).toBe(contentHash(Buffer.from("content 5\n"), index?.algorithm ?? "sha1"));
});
