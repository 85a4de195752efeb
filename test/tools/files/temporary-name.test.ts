import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { isStaleTemporary, newTemporaryName, temporaryKind } from "../../../src/tools/files/temporary-name.js";

const day = 24 * 60 * 60 * 1000;

test("temporaryKind recognises the names of temporary files and no others", () => {
  const name = newTemporaryName();
  expect([`${name}.tmp`, `${name}.old`].map(temporaryKind)).toEqual(["tmp", "old"]);
  const others = [name, `${name}.txt`, `a${name}.tmp`, ".cody-0123456789abcdef.lock", ".cody-notes.tmp"];
  expect(others.map(temporaryKind)).toEqual(others.map(() => undefined));
});

test("a temporary file is stale when its process has ended", () => {
  const name = `${newTemporaryName()}.tmp`;
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  expect(isStaleTemporary(name, 0, 10 * day)).toBe(false);
  expect(isStaleTemporary(name.replace(`-${process.pid}-`, `-${pid}-`), 0, 0)).toBe(true);
});

test("a temporary file of another machine is stale after a day", () => {
  const name = `${newTemporaryName()}.old`.replace(/^\.cody-[0-9a-f]{8}/, ".cody-00000000");
  expect(isStaleTemporary(name, 0, day)).toBe(false);
  expect(isStaleTemporary(name, 0, day + 1)).toBe(true);
});
