import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedLines } from "../../../src/base/text/bounded-lines.js";

function read(chunks: readonly Buffer[], maxBytes: number): unknown[] {
  const seen: unknown[] = [];
  const lines = new BoundedLines(maxBytes, {
    line: (text) => seen.push(text),
    tooLong: (head, tail) => seen.push({ head, tail }),
  });
  for (const chunk of chunks) lines.push(chunk);
  return seen;
}

test("the lines are the same however the bytes are split into chunks", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "ü", "€", "{", " "), maxLength: 30 });
  const cuts = fc.array(fc.nat(200), { maxLength: 10 });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), cuts, (lines, at) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      const ends = [...at, bytes.length].toSorted((a, b) => a - b);
      const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      expect(read(chunks, 20)).toEqual(read([bytes], 20));
    }),
  );
});

test("an oversized line is reported by its beginning and end, and the next line is read normally", () => {
  const long = `{"id":7,${"x".repeat(5_000)},"end":1}`;
  const [first, second] = read([Buffer.from(long.slice(0, 900)), Buffer.from(`${long.slice(900)}\nshort\n`)], 1_000);
  expect(first).toEqual({ head: long.slice(0, 256), tail: long.slice(-256) });
  expect(second).toBe("short");
});
