import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedOutput } from "../../../src/base/text/bounded-output.js";

const bounds = { headBytes: 10, tailBytes: 7 };

function outputOf(...chunks: (string | Uint8Array)[]): string {
  const output = new BoundedOutput(bounds);
  for (const chunk of chunks) output.push(Buffer.from(chunk));
  return output.text();
}

test("output within the bounds is kept whole", () => {
  expect(outputOf()).toBe("");
  expect(outputOf("0123", "456789", "abcdefg")).toBe("0123456789abcdefg");
});

test("longer output keeps its head and tail and the number of bytes left out", () => {
  expect(outputOf("0123456789", "abcdefg", "h")).toBe("0123456789\n[... 1 byte left out ...]\nbcdefgh");
  expect(outputOf("012345678\n", "abcdefg", "h")).toBe("012345678\n[... 1 byte left out ...]\nbcdefgh");
});

test("a multi-byte character is never cut", () => {
  expect(outputOf("12345678€", "x".repeat(20), "€123456")).toBe("12345678\n[... 26 bytes left out ...]\n123456");
});

test("invalid UTF-8 becomes replacement characters", () => {
  expect(outputOf(Uint8Array.of(0x61, 0xff, 0x62))).toBe("a\u{fffd}b");
});

test("the result does not depend on how the bytes are split into chunks", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 12 }), (chunks) => {
      const whole = Buffer.concat(chunks);
      const text = outputOf(...chunks);
      expect(text).toBe(outputOf(whole));
    }),
  );
});

test("well-formed text stays well-formed when truncated", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (text) => {
      expect(outputOf(text)).not.toContain("\u{fffd}");
    }),
  );
});
