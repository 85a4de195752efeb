import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkRights, type Ownership } from "../../../src/cli/commands/maintenance/doctor/checks.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const uid = process.getuid?.() ?? 0;

/** The problems found for an entry with this mode, without its path. */
async function rightsOf(what: "file" | "folder", mode: number, ownership: Ownership, looks = uid) {
  const path = join(await temporaryFolder(), "it");
  if (what === "file") await writeFile(path, "");
  else await mkdir(path);
  await chmod(path, mode);
  const findings = checkRights({ path, stats: await stat(path), uid: looks, ownership });
  return findings.map(({ path: named, ...finding }) => {
    expect(named).toBe(path);
    return finding;
  });
}

test.each([
  ["file", 0o600, "ours"],
  ["file", 0o700, "ours"],
  ["folder", 0o700, "ours"],
  ["file", 0o664, "chosen"],
  ["folder", 0o775, "chosen"],
  ["folder", 0o1777, "chosen"],
] as const)("a %s with mode %o that is %s has no problem", async (what, mode, ownership) => {
  expect(await rightsOf(what, mode, ownership)).toEqual([]);
});

test.each([
  { what: "file", mode: 0o640, ownership: "ours", others: "read", remedy: "600" },
  { what: "file", mode: 0o602, ownership: "ours", others: "change", remedy: "600" },
  { what: "folder", mode: 0o777, ownership: "ours", others: "read and change", remedy: "700" },
  { what: "file", mode: 0o666, ownership: "chosen", others: "change", remedy: "o-w" },
  { what: "folder", mode: 0o757, ownership: "chosen", others: "change", remedy: "o-w" },
] as const)("a $what with mode $mode that is $ownership: others can $others it", async (exposed) => {
  const { what, mode, ownership, others, remedy } = exposed;
  expect(await rightsOf(what, mode, ownership)).toEqual([{ kind: "exposed", mode: mode.toString(8), others, remedy }]);
});

test("an entry owned by another user is reported, whatever its mode", async () => {
  expect(await rightsOf("file", 0o600, "ours", uid + 1)).toEqual([{ kind: "foreign_owner", uid }]);
  expect(await rightsOf("folder", 0o777, "chosen", uid + 1)).toEqual([{ kind: "foreign_owner", uid }]);
});
