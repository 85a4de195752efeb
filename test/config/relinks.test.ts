import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addRelink, readRelinks, relinked } from "../../src/config/project/relinks.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("a moved folder is followed with its subfolders, through several moves", () => {
  const relinks = [
    { from: "/a", to: "/b" },
    { from: "/b", to: "/c/d" },
    { from: "/a/inner", to: "/elsewhere" },
  ];
  expect(relinked("/a", relinks)).toBe("/c/d");
  expect(relinked("/a/x/y", relinks)).toBe("/c/d/x/y");
  expect(relinked("/a/inner/z", relinks)).toBe("/elsewhere/z");
  expect(relinked("/about", relinks)).toBe("/about");
});

test("a cycle of relinks terminates", () => {
  const relinks = [
    { from: "/a", to: "/b" },
    { from: "/b", to: "/a" },
  ];
  expect(relinked("/a", relinks)).toBe("/a");
});

test("the last relink wins", async () => {
  const home = await temporaryFolder();
  expect(await readRelinks(home)).toEqual([]);
  await addRelink(home, { from: "/a", to: "/b" });
  await addRelink(home, { from: "/a", to: "/c" });
  expect(await readRelinks(home)).toEqual([{ from: "/a", to: "/c" }]);
  await addRelink(home, { from: "/c", to: "/a" });
  expect(await readRelinks(home)).toEqual([{ from: "/c", to: "/a" }]);
  await Promise.all(Array.from({ length: 10 }, (_, n) => addRelink(home, { from: `/from/${n}`, to: `/to/${n}` })));
  expect(await readRelinks(home)).toHaveLength(11);
  for (const rubbish of ["{", "{}", "[1, null]", '[{"from":"a","to":"b"}]']) {
    await writeFile(join(home, "relinks.json"), rubbish);
    expect(await readRelinks(home)).toEqual([]);
  }
});
