import { expect, test } from "vitest";
import { type FileStamp, FileStamps, isSameStamp } from "../../../src/tools/files/file-stamps.js";

const stamp: FileStamp = { device: 1n, inode: 2n, size: 3n, modifiedNs: 4n };

test("the least recently set stamps are forgotten first", () => {
  const stamps = new FileStamps();
  for (let file = 0; file < 1_000; file += 1) stamps.set(`/${file}`, stamp);
  stamps.set("/0", stamp);
  stamps.set("/new", stamp);
  expect([stamps.get("/0"), stamps.get("/1"), stamps.get("/2"), stamps.get("/new")]).toEqual([
    stamp,
    undefined,
    stamp,
    stamp,
  ]);
  stamps.forget("/new");
  expect(stamps.get("/new")).toBeUndefined();
});

test.each(["device", "inode", "size", "modifiedNs"] as const)("stamps with a different %s are not the same", (key) => {
  expect(isSameStamp(stamp, { ...stamp })).toBe(true);
  expect(isSameStamp(stamp, { ...stamp, [key]: 9n })).toBe(false);
});
