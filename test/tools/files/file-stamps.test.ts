import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { type FileStamp, FileStamps, stampOf } from "../../../src/tools/files/file-stamps.js";

const stamp: FileStamp = "1 2 3 4";

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

test.each(["dev", "ino", "size", "mtimeNs"] as const)("stamps with a different %s are not the same", async (key) => {
  const stats = await stat(import.meta.filename, { bigint: true });
  const changed = Object.assign(Object.create(stats) as BigIntStats, { [key]: 9n });
  expect(stampOf(stats)).toBe(stampOf(stats));
  expect(stampOf(changed)).not.toBe(stampOf(stats));
});

test("stamps that were listed are the same again, in the same order", () => {
  const stamps = new FileStamps([{ path: "/a", stamp: "1" }]);
  stamps.set("/b", "2");
  stamps.set("/a", "3");
  expect(stamps.entries()).toEqual([
    { path: "/b", stamp: "2" },
    { path: "/a", stamp: "3" },
  ]);
  expect(new FileStamps(stamps.entries()).entries()).toEqual(stamps.entries());
});
