import { expect, test } from "vitest";
import { CommandError } from "../../src/cli/command-error.js";
import { parseSince } from "../../src/cli/commands/conversations/library.js";

const now = Date.parse("2026-11-17T12:00:00.000Z");

test.each([
  ["90m", "2026-11-17T10:30:00.000Z"],
  ["12h", "2026-11-17T00:00:00.000Z"],
  ["7d", "2026-11-10T12:00:00.000Z"],
  ["2w", "2026-11-03T12:00:00.000Z"],
  ["2026-11-01T08:00:00Z", "2026-11-01T08:00:00.000Z"],
])("%s is parsed as %s", (text, expected) => {
  expect(new Date(parseSince(text, now) ?? 0).toISOString()).toBe(expected);
});

test("a date starts at local midnight, and no value means no limit", () => {
  expect(parseSince("2026-11-01", now)).toBe(new Date(2026, 10, 1).getTime());
  expect(parseSince(undefined, now)).toBeUndefined();
});

test.each([
  "",
  "7",
  "d",
  "-7d",
  "7 d",
  "yesterday",
  "2026-02-30",
  "2026-13-01",
  "2026-11-01Tx",
  "1234567d",
  "Infinity",
])("'%s' is rejected", (text) => {
  expect(() => parseSince(text, now)).toThrow(CommandError);
});
