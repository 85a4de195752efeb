import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { harmless } from "../../src/base/text/harmless.js";
import { cellWidth } from "../../src/cli/terminal/screen/cells.js";
import { editorView } from "../../src/cli/terminal/view/editor.js";
import { Emulator } from "./support/emulator.js";
import { editorWith, historyOf, press } from "./support/editor.js";
import { keyOf, pasteOf } from "./support/keys.js";
import { plainView } from "./support/view.js";

/** The lines, and the cursor as `row:column`. */
function drawn(editor: ReturnType<typeof editorWith>, columns: number, maxRows = 10): string[] {
  const { lines, cursor } = editorView(editor, plainView(columns), { maxRows });
  return [...lines, `${cursor.row}:${cursor.column}`];
}

describe("the view of the editor", () => {
  it.each<[string, number, string[]]>([
    ["", 20, ["› ", "0:2"]],
    ["hello", 20, ["› hello", "0:7"]],
    ["one\ntwo<left>", 20, ["› one", "  two", "1:4"]],
    ["one\n", 20, ["› one", "  ", "1:2"]],
    // Between words, and inside of a word that is too long.
    ["aaa bbb ccc", 12, ["› aaa bbb ", "  ccc", "1:5"]],
    ["aaaaaaaaaaaa", 12, ["› aaaaaaaaa", "  aaa", "1:5"]],
    ["aa bbbbbbbbbbbb", 12, ["› aa ", "  bbbbbbbbb", "  bbb", "2:5"]],
    // The end of a full row has a column for the cursor.
    ["aaaaaaaaa", 12, ["› aaaaaaaaa", "0:11"]],
    ["aaaaaaaaaa<left>", 12, ["› aaaaaaaaa", "  a", "1:2"]],
    ["aaaaaaaaaa<left><left>", 12, ["› aaaaaaaaa", "  a", "0:10"]],
    ["界界界界", 12, ["› 界界界界", "0:10"]],
    ["界界界界界", 12, ["› 界界界界", "  界", "1:4"]],
    ["a界界界界", 12, ["› a界界界界", "0:11"]],
    ["aa界界界界", 12, ["› aa界界界", "  界", "1:4"]],
    ["👨‍👩‍👧👨‍👩‍👧<left>", 12, ["› 👨‍👩‍👧👨‍👩‍👧", "0:4"]],
    ["abc", 5, ["abc", "0:3"]],
    ["abcd", 5, ["abcd", "0:4"]],
  ])("of %j in %i columns", (script, columns, expected) => {
    expect(drawn(editorWith(script), columns)).toEqual(expected);
  });

  it("scrolls with the cursor and marks that there is more", () => {
    const editor = editorWith("1\n2\n3\n4\n5");
    expect(drawn(editor, 20, 3)).toEqual(["… 3", "  4", "  5", "2:3"]);
    press(editor, "<up>");
    expect(drawn(editor, 20, 3)).toEqual(["… 3", "  4", "  5", "1:3"]);
    press(editor, "<up><up>");
    expect(drawn(editor, 20, 3)).toEqual(["… 2", "  3", "… 4", "0:3"]);
    press(editor, "<up>");
    expect(drawn(editor, 20, 3)).toEqual(["› 1", "  2", "… 3", "0:3"]);
    expect(drawn(editor, 20, 5)).toEqual(["› 1", "  2", "  3", "  4", "  5", "0:3"]);
  });

  it("shows control characters, and what would change the direction of the line, as harmless characters", () => {
    const editor = editorWith();
    editor.press(pasteOf("a\u001b[31m\u202eb\tc\u200b"));
    const [line = ""] = drawn(editor, 40);
    expect(line).toBe("› a␛[31m\ufffdb    c\\342\\200\\213");
  });

  it("cuts the label of a paste that is wider than the screen", () => {
    const editor = editorWith();
    editor.press(pasteOf("x\n".repeat(20)));
    expect(drawn(editor, 40)).toEqual(["› [pasted 20 lines]", "0:19"]);
    expect(drawn(editor, 12)).toEqual(["› [pasted 2", "0:11"]);
  });

  it("shows the mode of vi's keys and the unfinished command", () => {
    const editor = editorWith("one", "vi");
    expect(drawn(editor, 20)).toEqual(["› one", "-- INSERT --", "0:5"]);
    press(editor, "<escape>2d");
    expect(drawn(editor, 20)).toEqual(["› one", "-- NORMAL -- 2d", "0:4"]);
    expect(drawn(editor, 20, 1)).toEqual(["› one", "0:4"]);
  });

  it("shows the history search with the cursor at the end of its query", () => {
    const editor = editorWith("draft", "emacs", historyOf("git status", "git push"));
    press(editor, "<ctrl+r>gi");
    expect(drawn(editor, 40)).toEqual(["› git push", "history search: gi", "1:18"]);
    press(editor, "x");
    expect(drawn(editor, 40)).toEqual(["› git push", "history search: gix  (no match)", "1:19"]);
    expect(drawn(editor, 20)).toEqual(["› git push", "hisgix  (no match)", "1:6"]);
  });

  it("says when a text is full", () => {
    const editor = editorWith();
    for (let count = 0; count < 4; count += 1) editor.press(pasteOf("x".repeat(3_000_000)));
    expect(drawn(editor, 80).at(-2)).toBe("A text can have at most 10000000 characters. Name a file instead.");
    press(editor, "<backspace>");
    expect(drawn(editor, 80).at(-2)).toContain("[pasted 3000000 characters]");
  });
});

const anyText = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" }), fc.constant("\n")), {
  maxLength: 8,
});

test("no line is wider than the view, and the cursor is inside of the lines", () => {
  const session = fc.record({
    texts: anyText,
    moves: fc.array(fc.constantFrom("left", "up", "home", "end", "ctrl+r", "escape", "a", "ctrl+left"), {
      maxLength: 8,
    }),
    keys: fc.constantFrom<"emacs" | "vi">("emacs", "vi"),
    columns: fc.integer({ min: 1, max: 60 }),
    maxRows: fc.integer({ min: 1, max: 8 }),
  });
  fc.assert(
    fc.property(session, ({ texts, moves, keys, columns, maxRows }) => {
      const editor = editorWith("", keys, historyOf("a b c", "界 a"));
      for (const text of texts) editor.press(pasteOf(text));
      for (const move of moves) editor.press(keyOf(move));
      const { lines, cursor } = editorView(editor, plainView(columns), { maxRows });
      expect(lines.length).toBeLessThanOrEqual(maxRows);
      for (const line of lines) expect(cellWidth(line)).toBeLessThanOrEqual(columns);
      expect(lines[cursor.row]).toBeDefined();
      expect(cursor.column).toBeGreaterThanOrEqual(0);
      expect(cursor.column).toBeLessThan(columns);
      expect(harmless(lines.join(""))).toBe(lines.join(""));
    }),
  );
});

test("the cursor of a terminal is where the view says", async () => {
  for (const text of ["hello", "aa界界界", "a\tb", "👍 ok", "e\u0301e", "aaaaaaaaa"]) {
    const editor = editorWith();
    editor.press(pasteOf(text));
    const { lines, cursor } = editorView(editor, plainView(12), { maxRows: 4 });
    const emulator = new Emulator({ columns: 12, rows: 5 });
    await emulator.write(lines.join("\r\n"));
    expect([text, emulator.cursor]).toEqual([text, { row: cursor.row, column: cursor.column }]);
  }
});
