import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedOutput } from "../../../src/base/text/bounded-output.js";

const bounds = { headBytes: 10, tailBytes: 7 };

function outputOf(...chunks: (string | Uint8Array)[]): string {
  const output = new BoundedOutput(bounds);
  for (const chunk of chunks) output.push(Buffer.from(chunk));
  return output.text();
}

test("what fits is kept whole", () => {
  expect(outputOf()).toBe("");
  expect(outputOf("0123", "456789", "abcdefg")).toBe("0123456789abcdefg");
});

test("of more the head and the tail are kept, and how much lies between is said", () => {
  expect(outputOf("0123456789", "abcdefg", "h")).toBe("0123456789\n[... 1 byte left out ...]\nbcdefgh");
  expect(outputOf("012345678\n", "abcdefg", "h")).toBe("012345678\n[... 1 byte left out ...]\nbcdefgh");
});

test("characters are not cut in two", () => {
  expect(outputOf("12345678€", "x".repeat(20), "€123456")).toBe("12345678\n[... 26 bytes left out ...]\n123456");
});

test("bytes that are no UTF-8 become replacement characters", () => {
  expect(outputOf(Uint8Array.of(0x61, 0xff, 0x62))).toBe("a\u{fffd}b");
});

test("it does not matter how the bytes were cut into chunks", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 12 }), (chunks) => {
      const whole = Buffer.concat(chunks);
      const text = outputOf(...chunks);
      expect(text).toBe(outputOf(whole));
    }),
  );
});

test("well-formed text stays well-formed wherever it is cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (text) => {
      expect(outputOf(text)).not.toContain("\u{fffd}");
    }),
  );
});
