import { expect, test } from "vitest";
import { ageText, byteText } from "../../src/cli/format.js";

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [1234, "1.2 kB"],
  [99_951, "100 kB"],
  [999_600, "1 MB"],
  [14_000_000, "14 MB"],
  [2e15, "2000 TB"],
])("%d bytes are printed as %s", (bytes, text) => expect(byteText(bytes)).toBe(text));

test.each([
  [60 * 60 * 1000, "1 hour"],
  [47 * 60 * 60 * 1000, "47 hours"],
  [7 * 24 * 60 * 60 * 1000, "7 days"],
])("%d milliseconds are printed as %s", (milliseconds, text) => expect(ageText(milliseconds)).toBe(text));
