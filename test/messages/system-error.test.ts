import { constants } from "node:os";
import { expect, test } from "vitest";
import { reasonOf } from "../../src/actors/rollout-writer/reason.js";
import { systemCode } from "../../src/messages/system-error.js";
import { failureWords } from "../../src/tools/failure-words.js";

/** As Node says it: with its number, and without its name. */
const quota = Object.assign(new Error("UNKNOWN: unknown error, write"), {
  code: "UNKNOWN",
  errno: -constants.errno.EDQUOT,
  syscall: "write",
});

test("an error of the system has its name, also where Node has none for it", () => {
  expect(systemCode(quota)).toBe("EDQUOT");
  expect(systemCode(Object.assign(new Error("no"), { code: "ENOSPC", errno: -28 }))).toBe("ENOSPC");
  expect([new Error("no"), "no", undefined, null].map(systemCode)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("a quota that is used up is told as one, to people and to the model", () => {
  expect(reasonOf(quota)).toBe("disk quota exceeded");
  expect(failureWords(quota)).toBe("disk quota exceeded");
});
