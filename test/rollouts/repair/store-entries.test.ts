import { expect, test } from "vitest";
import { companionPath } from "../../../src/rollouts/layout.js";
import { storeName } from "../../../src/rollouts/repair/store-entries.js";

const uuid = "01a1e278-c9af-73b9-84ae-93f3a1bd5b54";
const rollouts = [`conv_${uuid}.jsonl`, `${uuid}.jsonl`, "my-own.jsonl", `rollout-2026-11-16T00-00-00-${uuid}.jsonl`];
const token = "0".repeat(32);

test.each(rollouts)("companion files of %s are recognised by name", (rollout) => {
  expect(storeName(rollout)).toBe("rollout");
  const beside = (ending: string) => storeName(companionPath(rollout, ending));
  expect(["lock", `lock.after.${token}`].map(beside)).toEqual(["lock", "lock"]);
  expect(["lock.0123456789abcdef.tmp", "repair.tmp"].map(beside)).toEqual(["temporary", "temporary"]);
  expect(["torn-1", "backup-2026-11-16T00-00-00.000Z-2"].map(beside)).toEqual(["kept", "kept"]);
  expect(["txt", "tmp", "lock.txt", "lock.1.tmp"].map(beside)).toEqual(["foreign", "foreign", "foreign", "foreign"]);
});

test("list caches, indexes and the temporary file of a killed list are recognised", () => {
  const names = [".heads.json", ".names.jsonl", ".pins.jsonl", ".heads.json.7.tmp"];
  expect(names.map(storeName)).toEqual(["cache", "cache", "cache", "temporary"]);
});

test.each(["notes.txt", "notes.tmp", "a.lock", ".jsonl", ".jsonl.lock", "a b.jsonl", ".cody-0.lock", "2026"])(
  "%j is a foreign file",
  (name) => expect(storeName(name)).toBe("foreign"),
);
