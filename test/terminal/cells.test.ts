import * as fc from "fast-check";
import { expect, it, test } from "vitest";
import { graphemesOf } from "../../src/cli/terminal/screen/cells.js";

it.each<[string, readonly string[]]>([
  ["ab\n", ["a", "b", "\n"]],
  ["a\r\nb", ["a", "\r\n", "b"]],
  ["äß界か한", ["ä", "ß", "界", "か", "한"]],
  ["e\u0301か\u3099", ["e\u0301", "か\u3099"]],
  ["한\u11a8", ["한\u11a8"]],
  ["👨‍👩‍👧🇩🇪👍🏽", ["👨‍👩‍👧", "🇩🇪", "👍🏽"]],
  ["❤\ufe0f", ["❤\ufe0f"]],
])("%j consists of %j", (text, graphemes) => {
  expect(graphemesOf(text)).toEqual(graphemes);
});

test("characters are those of Unicode, with and without the segmenter", () => {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const unit = fc.integer({ min: 0, max: 0xff_ff }).map((code) => String.fromCharCode(code));
  const text = fc.oneof(fc.string({ unit }), fc.string({ unit: "grapheme" }), fc.string({ unit, maxLength: 2 }));
  fc.assert(
    fc.property(text, (given) => {
      expect(graphemesOf(given)).toEqual(Array.from(segmenter.segment(given), ({ segment }) => segment));
    }),
    { numRuns: 2_000 },
  );
});

test("no two characters that are taken for single ones belong together", () => {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const codes = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code));
  // Each character after a letter and after a syllable, and before a letter.
  for (const base of ["a", "한"]) {
    const wrong = codes.filter((character) => {
      const text = `${base}${character}a`;
      return graphemesOf(text).length !== [...segmenter.segment(text)].length;
    });
    expect(wrong).toEqual([]);
  }
});
