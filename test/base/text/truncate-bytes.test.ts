import * as fc from "fast-check";
import { expect, test } from "vitest";
import { leftoverBytes, unfinishedBytes } from "../../../src/base/text/truncate.js";

test("removing the unfinished and leftover bytes at a cut leaves valid UTF-8", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "é", "€", "𝄞"), { maxLength: 6 }), fc.nat(), (text, at) => {
      const bytes = Buffer.from(text.join(""));
      const cut = at % (bytes.length + 1);
      const [before, after] = [bytes.subarray(0, cut), bytes.subarray(cut)];
      const head = before.subarray(0, before.length - unfinishedBytes(before));
      const tail = after.subarray(leftoverBytes(after));
      const isBorder = unfinishedBytes(before) === 0;
      expect(isBorder === (leftoverBytes(after) === 0) && isText(head) && isText(tail)).toBe(true);
    }),
  );
});

test("bytes that start no character do not count as unfinished", () => {
  expect(unfinishedBytes(Uint8Array.of(0x80, 0x80, 0x80, 0x80))).toBe(0);
  expect(unfinishedBytes(Uint8Array.of(0xff))).toBe(0);
  expect(leftoverBytes(Uint8Array.of(0x80, 0x80, 0x80, 0x80))).toBe(3);
});

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString()).equals(bytes);
}
