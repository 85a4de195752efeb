import * as fc from "fast-check";
import { expect, it, test } from "vitest";
import { fuzzyFind } from "../../src/cli/terminal/model/fuzzy.js";

function find(query: string, candidates: readonly string[], limit = 10): string[] {
  return fuzzyFind(query, candidates, { limit, textOf: (text) => text }).map(({ candidate }) => candidate);
}

/** The matched letters of the only candidate in brackets. */
function marked(query: string, text: string): string | undefined {
  const [match] = fuzzyFind(query, [text], { limit: 1, textOf: (candidate) => candidate });
  if (match === undefined) return undefined;
  return text
    .split("")
    .map((letter, index) => (match.positions.includes(index) ? `[${letter}]` : letter))
    .join("")
    .replaceAll("][", "");
}

it.each<[string, string, string | undefined]>([
  ["edit", "src/editor.ts", "src/[edit]or.ts"],
  ["EDIT", "src/editor.ts", "src/[edit]or.ts"],
  ["se", "src/editor.ts", "[s]rc/[e]ditor.ts"],
  ["ts", "tests/src/a.ts", "tests/src/a.[ts]"],
  ["src/ed", "src/editor.ts", "[src/ed]itor.ts"],
  ["test ed", "test/editor.ts", "[test]/[ed]itor.ts"],
  ["ed test", "test/editor.ts", "[test]/[ed]itor.ts"],
  ["etr", "a/xexexetr.ts", "a/xexex[etr].ts"],
  ["ab", "xabx ab", "xabx [ab]"],
  ["xyz", "src/editor.ts", undefined],
  ["rd", "drd", "d[rd]"],
  ["İ", "xİy", "x[İ]y"],
])("%j in %j is %j", (query, text, expected) => {
  expect(marked(query, text)).toBe(expected);
});

it.each<[string, readonly string[], string]>([
  ["menu", ["docs/main/unused.md", "src/model/menu.ts", "src/menu/other.ts"], "src/model/menu.ts"],
  ["menu", ["src/view/menu-lines.ts", "menu", "a/old-menu.ts"], "menu"],
  ["index", ["src/a/b/c/index.ts", "src/index.ts", "reindexing.md"], "src/index.ts"],
  ["ph", ["graph.ts", "prompt-history.ts"], "prompt-history.ts"],
  ["fS", ["offset.ts", "findString.ts"], "findString.ts"],
  ["README", ["src/readme.ts", "README.md"], "README.md"],
])("%j finds %j with the best first", (query, candidates, best) => {
  expect(find(query, candidates)[0]).toBe(best);
});

it("returns the first candidates for an empty query, and at most the limit", () => {
  expect(find("", ["b", "a", "c"], 2)).toEqual(["b", "a"]);
  expect(find(" ", ["b", "a", "c"], 2)).toEqual(["b", "a"]);
  expect(find("a", ["xa", "ya", "a"], 2)).toEqual(["a", "xa"]);
});

test("matches exactly what contains the letters in their order, whatever the limit drops", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "A", "b", "/", "-", "é", "界", "👍"), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), word, fc.integer({ min: 1, max: 5 }), (candidates, query, limit) => {
      const all = find(query, candidates, 100);
      const letters = query.toLowerCase().split("");
      const expected = candidates.filter((text) => {
        let at = -1;
        return letters.every((letter) => (at = text.toLowerCase().indexOf(letter, at + 1)) !== -1);
      });
      expect(all.toSorted()).toEqual(expected.toSorted());
      expect(find(query, candidates, limit)).toEqual(all.slice(0, limit));
    }),
  );
});
