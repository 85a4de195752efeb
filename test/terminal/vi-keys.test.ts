import { describe, expect, it } from "vitest";
import { editorWith, historyOf, press, shown } from "./support/editor.js";
import { keyOf, pasteOf } from "./support/keys.js";

/** An editor with vi's keys in normal mode, the cursor on the first character, after a script. */
function viewing(text: string, script: string) {
  const editor = editorWith(text, "vi");
  press(editor, "<escape>gg0");
  press(editor, script);
  return editor;
}

/** The text, with a bar before the character under the cursor, and the mode unless it is normal. */
function after(text: string, script: string): string {
  const editor = viewing(text, script);
  return shown(editor) + (editor.vi?.mode === "insert" ? " insert" : "");
}

describe("motions", () => {
  it.each<[string, string, string]>([
    ["one two", "l", "o|ne two"],
    ["one two", "3l", "one| two"],
    ["one two", "99l", "one tw|o"],
    ["one two", "$", "one tw|o"],
    ["one two", "$h", "one t|wo"],
    ["one two", "$0", "|one two"],
    ["  one", "$^", "  |one"],
    ["one, two", "w", "one|, two"],
    ["one, two", "W", "one, |two"],
    ["one, two", "ww", "one, |two"],
    ["one, two three", "3w", "one, two |three"],
    ["one, two", "e", "on|e, two"],
    ["one, two", "ee", "one|, two"],
    ["one, two", "E", "one|, two"],
    ["one, two", "$b", "one, |two"],
    ["one, two", "$2b", "one|, two"],
    ["one, two", "$2B", "|one, two"],
    ["one\n\ntwo", "w", "one\n|\ntwo"],
    ["one\n\ntwo", "ww", "one\n\n|two"],
    ["one\n\ntwo", "Gbb", "|one\n\ntwo"],
    ["one\n  two\nthree", "G", "one\n  two\n|three"],
    ["one\n  two\nthree", "2G", "one\n  |two\nthree"],
    ["one\n  two\nthree", "Ggg", "|one\n  two\nthree"],
    ["one\ntwo\nthree", "G2gg", "one\n|two\nthree"],
    ["one\ntwo\nthree", "j", "one\n|two\nthree"],
    ["one\ntwo\nthree", "2jk", "one\n|two\nthree"],
    ["a-b-c", "f-", "a|-b-c"],
    ["a-b-c", "2f-", "a-b|-c"],
    ["a-b-c", "t-", "|a-b-c"],
    ["a-b-c", "2t-", "a-|b-c"],
    ["a-b-c", "$F-", "a-b|-c"],
    ["a-b-c", "$T-", "a-b-|c"],
    ["a-b-c", "f-;", "a-b|-c"],
    ["a-b-c", "f-;,", "a|-b-c"],
    ["a-b-c", "fx", "|a-b-c"],
    ["a界b", "l", "a|界b"],
    ["a界b", "f界", "a|界b"],
    ["👨‍👩‍👧 b", "w", "👨‍👩‍👧 |b"],
    ["one", "<right><backspace>", "|one"],
  ])("%j %s is %j", (text, script, expected) => {
    expect(after(text, script)).toBe(expected);
  });
});

describe("changes", () => {
  it.each<[string, string, string]>([
    ["one two", "x", "|ne two"],
    ["one two", "3x", "| two"],
    ["one two", "$x", "one t|w"],
    ["one two", "$X", "one t|o"],
    ["one two", "w2X", "on|two"],
    ["one two", "wD", "one| "],
    ["one two", "wC", "one | insert"],
    ["one two", "s", "|ne two insert"],
    ["one two", "iX", "X|one two insert"],
    ["one two", "aX", "oX|ne two insert"],
    ["  one", "$IX", "  X|one insert"],
    ["one two", "AX", "one twoX| insert"],
    ["one\ntwo", "oX", "one\nX|\ntwo insert"],
    ["one\ntwo", "OX", "X|\none\ntwo insert"],
    ["one\ntwo", "jOX", "one\nX|\ntwo insert"],
    ["one two", "rX", "|Xne two"],
    ["one two", "3rX", "XX|X two"],
    ["one two", "8rX", "|one two"],
    ["one two", "r界", "|界ne two"],
    ["one two three", "dw", "|two three"],
    ["one two three", "2dw", "|three"],
    ["one two three", "d2w", "|three"],
    ["one two", "wdw", "one| "],
    ["one\ntwo", "dw", "|\ntwo"],
    ["one two", "de", "| two"],
    ["one two", "$db", "one |o"],
    ["one two", "wd0", "|two"],
    ["one two", "wd$", "one| "],
    ["one two", "wd^", "|two"],
    ["one two", "cwX", "X| two insert"],
    ["one  two", "cwX", "X|  two insert"],
    ["a two", "cwX", "X| two insert"],
    ["one, two", "cWX", "X| two insert"],
    ["one two three", "c2wX", "X| three insert"],
    ["one two", "llcwX", "onX| two insert"],
    ["a-b-c", "df-", "|b-c"],
    ["a-b-c", "d2f-", "|c"],
    ["a-b-c", "dt-", "|-b-c"],
    ["a-b-c", "$dF-", "a-b|c"],
    ["a-b-c", "dfx", "|a-b-c"],
    ["one\ntwo\nthree", "dd", "|two\nthree"],
    ["one\ntwo\nthree", "Gdd", "one\n|two"],
    ["one\ntwo\nthree", "2dd", "|three"],
    ["one\ntwo\nthree", "9dd", "|"],
    ["one\ntwo\nthree", "dj", "|three"],
    ["one\ntwo\nthree", "Gdk", "|one"],
    ["one\ntwo\nthree", "dk", "|one\ntwo\nthree"],
    ["one\ntwo\nthree", "jdG", "|one"],
    ["one\ntwo\nthree", "jdgg", "|three"],
    ["one\ntwo\nthree", "jccX", "one\nX|\nthree insert"],
    ["one\ntwo", "S", "|\ntwo insert"],
    ["one two", "dzx", "|ne two"],
    ["one two", "d<escape>x", "|ne two"],
    ["one two", "2<escape>x", "|ne two"],
  ])("%j %s is %j", (text, script, expected) => {
    expect(after(text, script)).toBe(expected);
  });
});

describe("yanking and putting", () => {
  it.each<[string, string, string]>([
    ["one two", "ywP", "one| one two"],
    ["one two", "ywwp", "one tone| wo"],
    ["one two", "dwp", "tone| wo"],
    ["abc", "xp", "b|ac"],
    ["abc", "x3p", "baa|ac"],
    ["one\ntwo", "yyp", "one\n|one\ntwo"],
    ["one\ntwo", "yyP", "|one\none\ntwo"],
    ["one\ntwo", "Yj2p", "one\ntwo\n|one\none"],
    ["one\ntwo", "ddp", "two\n|one"],
    ["one\ntwo\nthree", "yjGp", "one\ntwo\nthree\n|one\ntwo"],
    ["one two", "$yb", "one |two"],
    ["one\ntwo", "jyyk", "|one\ntwo"],
    ["one", "p", "|one"],
  ])("%j %s is %j", (text, script, expected) => {
    expect(after(text, script)).toBe(expected);
  });
});

describe("undo", () => {
  it.each<[string, string, string]>([
    ["one two", "dwu", "|one two"],
    ["one two", "xxu", "|ne two"],
    ["one two", "xx2u", "|one two"],
    ["one two", "xxuu<ctrl+r>", "|ne two"],
    ["one two", "iX Y Z<escape>u", "|one two"],
    ["one two", "cwX Y<left><left>Z<escape>u", "|one two"],
    ["one two", "oX Y<escape>u", "|one two"],
    ["one two", "oX Y<escape>u<ctrl+r>", "one two\nX |Y"],
  ])("%j %s is %j", (text, script, expected) => {
    // The cursor returns to where it was before the change.
    expect(after(text, script)).toBe(expected);
  });

  it("takes back at once what was typed before the first Escape", () => {
    expect(after("one two three", "u")).toBe("|");
  });
});

describe("modes", () => {
  it("starts in insert mode, reports the mode and the unfinished command, and starts again with the next text", () => {
    const editor = editorWith("one", "vi");
    expect(editor.vi).toEqual({ mode: "insert", pending: "" });
    expect(press(editor, "<escape>")).toEqual(["changed"]);
    press(editor, "2d3");
    expect(editor.vi).toEqual({ mode: "normal", pending: "2d3" });
    press(editor, "f");
    expect(editor.vi).toEqual({ mode: "normal", pending: "2d3f" });
    editor.take();
    expect(editor.vi).toEqual({ mode: "insert", pending: "" });
  });

  it("has none with the keys of emacs, and both can be changed", () => {
    const editor = editorWith("one");
    expect(editor.vi).toBeUndefined();
    editor.keys = "vi";
    expect(editor.vi?.mode).toBe("insert");
    press(editor, "<escape>x");
    editor.keys = "emacs";
    press(editor, "x");
    expect([editor.vi, editor.text]).toEqual([undefined, "oxn"]);
  });

  it("leaves Escape to the caller when there is nothing to end", () => {
    const editor = viewing("one", "");
    expect(press(editor, "<escape>")).toEqual(["ignored"]);
    expect(press(editor, "d<escape>")).toEqual(["changed", "changed"]);
  });

  it("submits in both modes", () => {
    expect(press(viewing("one", ""), "<enter>")).toEqual(["submit"]);
    expect(press(editorWith("one", "vi"), "<enter>")).toEqual(["submit"]);
  });

  it("goes through the history with k and j, and searches it in insert mode", () => {
    const editor = editorWith("draft", "vi", historyOf("first", "second"));
    press(editor, "<escape>2k");
    expect(shown(editor)).toBe("firs|t");
    press(editor, "j");
    expect(editor.text).toBe("second");
    press(editor, "i<ctrl+r>fir<enter>");
    expect([editor.text, editor.vi?.mode]).toEqual(["first", "insert"]);
  });

  it("keeps folded pastes in one piece, also when they are put into a later text", () => {
    const text = "x\n".repeat(20);
    const editor = editorWith("a ", "vi");
    editor.press(pasteOf(text));
    press(editor, " b<escape>0wdw");
    expect(editor.text).toBe("a b");
    press(editor, "P");
    expect(editor.text).toBe(`a ${text} b`);
    editor.take();
    press(editor, "<escape>p");
    expect(editor.text).toBe(`${text} `);
  });

  it("refuses to put more than a text can hold, and says so", () => {
    const editor = editorWith("", "vi");
    const text = "x".repeat(3_000_000);
    editor.press(pasteOf(text));
    press(editor, "<escape>yl9");
    editor.press(keyOf("p"));
    expect([editor.text.length, editor.isFull]).toEqual([text.length, true]);
    press(editor, "2p");
    expect([editor.text.length, editor.isFull]).toEqual([3 * text.length, false]);
  });
});
