import { mkdir, readdir, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { saveFailureReason } from "../../src/actors/rollout-writer/save-failure.js";
import { systemCode, systemProblem, systemReason } from "../../src/base/system-error.js";
import { failureText } from "../../src/tools/files/file-problem.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** An error as Node reports it: with the errno but without its name. */
const quota = Object.assign(new Error("UNKNOWN: unknown error, write"), {
  code: "UNKNOWN",
  errno: -constants.errno.EDQUOT,
  syscall: "write",
});

test("systemCode names a system error, also one that Node reports as UNKNOWN", () => {
  expect(systemCode(quota)).toBe("EDQUOT");
  expect(systemCode(Object.assign(new Error("no"), { code: "ENOSPC", errno: -28 }))).toBe("ENOSPC");
  expect([new Error("no"), "no", undefined, null].map(systemCode)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("an exceeded disk quota is reported as one, to people and to the model", () => {
  expect(saveFailureReason(quota)).toBe("disk quota exceeded");
  expect(failureText(quota)).toBe("disk quota exceeded");
});

test("a file where a folder is needed is reported in plain words with a hint", async () => {
  const file = join(await temporaryFolder(), "file");
  await writeFile(file, "");
  const made: unknown = await mkdir(join(file, "x")).catch((error: unknown) => error);
  const hint = "Rename the file that is in the way, or use another path";
  const why = "a part of the path is not a folder";
  expect(systemProblem(made)).toEqual({ message: `Cannot create the folder ${join(file, "x")}: ${why}`, hint });
  const read: unknown = await readdir(file).catch((error: unknown) => error);
  expect(systemProblem(read)?.message).toBe(`Cannot read the folder ${file}: ${why}`);
});

test.each([
  [
    { code: "EACCES", errno: -13, syscall: "scandir", path: "/a b" },
    {
      message: "Cannot read the folder /a b: permission denied",
      hint: "Check its owner and permissions: ls -ld '/a b'",
    },
  ],
  [
    { code: "ENOSPC", errno: -28, syscall: "write" },
    { message: "Cannot write: disk full", hint: "Free some space and try again" },
  ],
  [
    { code: "EACCES", errno: -13, syscall: "open", path: "/nope/config.json.lock.1.2" },
    { message: "Cannot access /nope: permission denied", hint: "Check its owner and permissions: ls -ld /nope" },
  ],
  [
    { code: "EROFS", errno: -30, syscall: "mkdir", path: "/ro/x" },
    {
      message: "Cannot create the folder /ro/x: read-only file system",
      hint: "Use a folder that can be written: set CODY_HOME or pass --home",
    },
  ],
  [
    { code: "ENOENT", errno: -2, syscall: "realpath", path: "/nope" },
    { message: "Cannot access /nope: it does not exist" },
  ],
  [
    { code: "ENOENT", errno: -2, syscall: "spawn nope", path: "nope" },
    { message: "Cannot run nope: it does not exist" },
  ],
  [
    { code: "EADDRINUSE", errno: -98, syscall: "listen", address: "127.0.0.1", port: 80 },
    { message: "Cannot listen on 127.0.0.1:80: the address is in use" },
  ],
])("%j is reported with the action, the path, the reason and a hint", (facts, problem) => {
  expect(systemProblem(Object.assign(new Error(`${facts.code}: raw`), facts))).toEqual(problem);
});

test("an error code without a text of its own uses the system's, and other errors have no problem text", () => {
  expect(systemReason(Object.assign(new Error("no"), { code: "ETXTBSY", errno: -26 }))).toBe("text file is busy");
  expect(systemProblem(new Error("no"))).toBeUndefined();
});
