import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contentHash, readGitIndex } from "../../../src/base/git/git-index.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** The index of a repository with the files `a` and `b/c`. */
const written = Buffer.from(
  [
    "RElSQwAAAAIAAAACav53RykeOHdq/ndHKR44dwAA/gAAJiJmAACBpAAAAAAAAAAAAAAAAniYGSJhOyr7YCUEL/a9h4rBmU6FAAFhAGr+d0cpIMY0av53Rykgxj",
    "QAAP4AACYidQAAgaQAAAAAAAAAAAAAAAJheAeYIo0Xry00/OTPvfNVVoMkcgADYi9jAAAAAAAAAG/UR8yoI1Q69Op67FvtJ54ErYHb",
  ].join(""),
  "base64",
);

async function repositoryWith(index: Uint8Array): Promise<string> {
  const root = await temporaryFolder();
  await mkdir(join(root, ".git"));
  await writeFile(join(root, ".git/index"), index);
  return root;
}

test("the hashes of staged contents are found by their paths", async () => {
  const index = await readGitIndex(await repositoryWith(written));
  expect(Object.fromEntries(index?.hashes ?? [])).toEqual({
    a: contentHash(Buffer.from("a\n"), "sha1"),
    "b/c": contentHash(Buffer.from("b\n"), "sha1"),
  });
});

test("an index that was cut off or has another format counts as none", async () => {
  const entriesEnd = written.length - 20;
  for (let length = 0; length < entriesEnd - 8; length += 1) {
    expect(await readGitIndex(await repositoryWith(written.subarray(0, length)))).toBeUndefined();
  }
  expect(await readGitIndex(await repositoryWith(Buffer.concat([Buffer.from("X"), written])))).toBeUndefined();
  expect(await readGitIndex(await temporaryFolder())).toBeUndefined();
});
