import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Editor, EditorKeys } from "../../src/cli/terminal/model/editor.js";
import { editorWith, historyOf, press, shown } from "./support/editor.js";
import { keyOf, pasteOf, typing } from "./support/keys.js";

describe("typing and moving", () => {
  it.each<[string, string]>([
    ["hello", "hello|"],
    ["ab<left>c", "ac|b"],
    ["ab<left><left><left>c", "c|ab"],
    ["one two<ctrl+left>x", "one x|two"],
    ["one two<alt+b><alt+b>x", "x|one two"],
    ["one, two<ctrl+a><alt+f>", "one|, two"],
    ["one, two<ctrl+a><alt+f><alt+f>", "one, two|"],
    ["one\ntwo<home>x", "one\nx|two"],
    ["one\ntwo<home><left>x", "onex|\ntwo"],
    ["one\ntwo<ctrl+home>x<end>y", "xoney|\ntwo"],
    ["one\ntwo<alt+lt>", "|one\ntwo"],
    ["one\ntwo<ctrl+home><ctrl+end>", "one\ntwo|"],
    ["a界b<left><left>x", "ax|界b"],
    ["a👨‍👩‍👧b<left><left>x", "ax|👨‍👩‍👧b"],
    ["a👨‍👩‍👧<backspace>", "a|"],
    ["e\u0301x<left><left>y", "y|e\u0301x"],
    ["🇩🇪🇫🇷<left>x", "🇩🇪x|🇫🇷"],
    ["a👍🏽<backspace>", "a|"],
    ["日本語 テキスト<ctrl+left>", "日本語 |テキスト"],
    ["abc<left><delete>", "ab|"],
    ["abc<home><ctrl+d>", "|bc"],
    ["abc<ctrl+h>", "ab|"],
    ["abc<left><ctrl+t>", "acb|"],
    ["abc<ctrl+t>", "acb|"],
    ["one two<home><alt+u>", "ONE| two"],
    ["one two<home><alt+c><alt+c>", "One Two|"],
    ["ONE<home><alt+l>", "one|"],
    ["one\\<enter>two", "one\ntwo|"],
    ["one<shift+enter>two", "one\ntwo|"],
    ["one<alt+enter>two", "one\ntwo|"],
    ["one<ctrl+j>two", "one\ntwo|"],
  ])("%j shows %j", (script, expected) => {
    expect(shown(editorWith(script))).toBe(expected);
  });

  it("joins a character that comes after its base, and moves over both", () => {
    const editor = editorWith("e");
    editor.press(keyOf("\u0301"));
    press(editor, "<left>");
    expect(shown(editor)).toBe("|e\u0301");
  });

  it("submits with Enter, and leaves the text until it is taken", () => {
    const editor = editorWith("hello");
    expect(press(editor, "<enter>")).toEqual(["submit"]);
    expect([editor.text, editor.take(), editor.text, editor.isEmpty]).toEqual(["hello", "hello", "", true]);
  });

  it("leaves keys without a meaning to the caller", () => {
    const editor = editorWith("");
    const names = ["<escape>", "<tab>", "<ctrl+c>", "<ctrl+o>", "<ctrl+d>", "<ctrl+k>", "<backspace>", "<f1>", "<up>"];
    expect(names.flatMap((name) => press(editor, name))).toEqual(names.map(() => "ignored"));
    expect(press(editorWith("abc"), "<ctrl+k>")).toEqual(["ignored"]);
    expect(press(editorWith("abc<left>"), "<ctrl+k>")).toEqual(["changed"]);
  });
});

describe("killing and yanking", () => {
  it.each<[string, string]>([
    ["one two<ctrl+w>", "one |"],
    ["one two/three<ctrl+w>", "one |"],
    ["one two/three<alt+backspace>", "one two/|"],
    ["one two<home><alt+d>", "| two"],
    ["one two<ctrl+left><ctrl+k>", "one |"],
    ["one\ntwo<up><end><ctrl+k>", "one|two"],
    ["one two<ctrl+left><ctrl+u>", "|two"],
    ["one\ntwo<home><ctrl+u>", "one|two"],
    ["one two<ctrl+w>x<ctrl+y>", "one xtwo|"],
    // Kills in a row are one text.
    ["one two three<ctrl+w><ctrl+w><ctrl+y>", "one two three|"],
    ["one two<home><alt+d><alt+d><end><ctrl+y>", "one two|"],
    ["one two<ctrl+w><left><right><ctrl+w><ctrl+y>", "one |"],
    ["one two<ctrl+w><left><right><ctrl+w><ctrl+y><alt+y>", "two|"],
    ["one two<ctrl+w><left><right><ctrl+w><ctrl+y><alt+y><alt+y>", "one |"],
    ["one<ctrl+w>two<alt+y>", "two|"],
    ["<ctrl+y>", "|"],
  ])("%j shows %j", (script, expected) => {
    expect(shown(editorWith(script))).toBe(expected);
  });
});

describe("undo and redo", () => {
  it.each<[string, string]>([
    ["one two<ctrl+_>", "one |"],
    ["one two<ctrl+_><ctrl+_>", "|"],
    ["one two<ctrl+_><ctrl+_><alt+_>", "one |"],
    ["one two<ctrl+_><ctrl+_><alt+_><alt+_><alt+_>", "one two|"],
    ["one two<ctrl+w><ctrl+/>", "one two|"],
    ["one<backspace><backspace><ctrl+_>", "one|"],
    ["one<ctrl+_>two<alt+_>", "two|"],
  ])("%j shows %j", (script, expected) => {
    expect(shown(editorWith(script))).toBe(expected);
  });

  it("brings back a text that was replaced", () => {
    const editor = editorWith("draft");
    editor.setText("from the history");
    press(editor, "<ctrl+_>");
    expect(editor.text).toBe("draft");
  });
});

describe("pastes", () => {
  const long = Array.from({ length: 120 }, (_, index) => `line ${index}`).join("\n");

  it("inserts a small paste as it is", () => {
    const editor = editorWith("a");
    editor.press(pasteOf("one\r\ntwo\rthree\n"));
    expect(shown(editor)).toBe("aone\ntwo\nthree\n|");
  });

  it("folds a paste of more than ten lines and expands it when the text is taken", () => {
    const editor = editorWith("see: ");
    editor.press(pasteOf(`${long}\n`));
    press(editor, " ok");
    expect(shown(editor)).toBe("see: [pasted 120 lines] ok|");
    expect(editor.text).toBe(`see: ${long}\n ok`);
    expect(editor.take()).toBe(`see: ${long}\n ok`);
  });

  it("folds more than 1,000 characters, and neither ten lines nor 1,000 characters", () => {
    const editor = editorWith();
    editor.press(pasteOf("x".repeat(1_000)));
    editor.press(pasteOf(Array.from({ length: 10 }, () => "y").join("\n")));
    expect(shown(editor)).not.toContain("pasted");
    editor.press(pasteOf("x".repeat(1_001)));
    expect(shown(editor)).toContain("[pasted 1001 characters]|");
  });

  it("deletes a folded paste as one character and moves over it as one", () => {
    const editor = editorWith("a");
    editor.press(pasteOf(long));
    press(editor, "b<left><left>x");
    expect(shown(editor)).toBe("ax|[pasted 120 lines]b");
    press(editor, "<delete>");
    expect([shown(editor), editor.text]).toEqual(["ax|b", "axb"]);
    press(editor, "<ctrl+_>");
    expect(editor.text).toBe(`ax${long}b`);
  });

  it("yanks a killed paste, also into a later text", () => {
    const editor = editorWith();
    editor.press(pasteOf(long));
    press(editor, "<ctrl+w>x");
    expect(editor.take()).toBe("x");
    press(editor, "<ctrl+y>");
    expect(editor.text).toBe(long);
  });

  it("forgets nothing when the same large text is pasted often", () => {
    const editor = editorWith();
    const text = "x".repeat(4_000_000);
    for (let count = 0; count < 20; count += 1) {
      editor.press(pasteOf(text));
      press(editor, "<backspace>");
    }
    expect(press(editor, "<ctrl+_>")).toEqual(["changed"]);
    expect(editor.text).toBe(text);
  });

  it("inserts a paste as it is when too much is folded already", () => {
    const editor = editorWith();
    const text = "x".repeat(4_990_000);
    for (let count = 0; count < 11; count += 1) {
      editor.press(pasteOf(`${text}${count}`));
      if (count < 10) press(editor, "<backspace>");
    }
    expect(editor.text).toBe(`${text}10`);
    const { rows } = editor.visibleRows({ columns: 20, maxRows: 1 });
    expect(
      rows
        .flat()
        .map((cell) => cell.text)
        .join(""),
    ).toMatch(/^x*10$/);
  });

  it("keeps apart two pastes", () => {
    const editor = editorWith();
    editor.press(pasteOf(long));
    editor.press(pasteOf(`${long}!`));
    expect(editor.take()).toBe(`${long}${long}!`);
  });

  it("does not mistake a broken character for a folded paste", () => {
    const editor = editorWith();
    editor.press(pasteOf(long));
    editor.press(pasteOf("a\udc00b\ud800"));
    expect(editor.take()).toBe(`${long}a\ufffdb\ufffd`);
  });
});

describe("rows and history", () => {
  it("moves by rows of the screen and returns to its column after a short row", () => {
    const editor = editorWith("abcdef\nx\nabcdef");
    expect(press(editor, "<left><up>")).toEqual(["changed", "changed"]);
    expect(shown(editor)).toBe("abcdef\nx|\nabcdef");
    press(editor, "<up>");
    expect(shown(editor)).toBe("abcde|f\nx\nabcdef");
  });

  it("moves inside of a wrapped line", () => {
    const editor = editorWith("aaaa bbbb cccc");
    editor.visibleRows({ columns: 5, maxRows: 10 });
    press(editor, "<up>|");
    expect(editor.text).toBe("aaaa bbbb| cccc");
  });

  it("goes through the history and returns to the text that was being written, with all changes", () => {
    const editor = editorWith("draft", "emacs", historyOf("first", "second\nwith two lines"));
    press(editor, "<up>");
    expect(editor.text).toBe("second\nwith two lines");
    press(editor, "!<up><up>");
    expect(shown(editor)).toBe("first|");
    expect(press(editor, "<up>")).toEqual(["ignored"]);
    press(editor, "<down>");
    expect(editor.text).toBe("second\nwith two lines!");
    press(editor, "<down>");
    expect(shown(editor)).toBe("draft|");
    expect(press(editor, "<down>")).toEqual(["ignored"]);
  });

  it("adds what is taken to the history", () => {
    const editor = editorWith("one");
    editor.take();
    press(editor, "two<up>");
    expect(editor.text).toBe("one");
    editor.take();
    press(editor, "<up>");
    expect(editor.text).toBe("one");
  });
});

describe("history search", () => {
  const history = ["git status", "npm test", "git push", "écrire un test"];

  it("finds the newest text that contains what is typed, then older ones", () => {
    const editor = editorWith("draft", "emacs", historyOf(...history));
    press(editor, "<ctrl+r>git");
    expect(editor.search).toEqual({ query: "git", isFound: true });
    expect(shown(editor)).toBe("|git push");
    press(editor, "<ctrl+r>");
    expect(shown(editor)).toBe("|git status");
    press(editor, "<ctrl+r>");
    expect([shown(editor), editor.search?.isFound]).toEqual(["|git status", false]);
    press(editor, "<ctrl+s>");
    expect([shown(editor), editor.search?.isFound]).toEqual(["|git push", true]);
  });

  it("takes the found text with Enter and does not submit it", () => {
    const editor = editorWith("draft", "emacs", historyOf(...history));
    expect(press(editor, "<ctrl+r>npm<enter>")).not.toContain("submit");
    expect([editor.text, editor.search]).toEqual(["npm test", undefined]);
    press(editor, "<ctrl+_>");
    expect(editor.text).toBe("draft");
  });

  it.each(["<escape>", "<ctrl+g>", "<ctrl+c>"])("returns to the text from before with %s", (name) => {
    const editor = editorWith("draft", "emacs", historyOf(...history));
    expect(press(editor, `<ctrl+r>npm${name}`).at(-1)).toBe("changed");
    expect([editor.text, editor.search]).toEqual(["draft", undefined]);
  });

  it("does with the found text what an editing key means", () => {
    const editor = editorWith("", "emacs", historyOf(...history));
    press(editor, "<ctrl+r>push<ctrl+a>x");
    expect(shown(editor)).toBe("x|git push");
  });

  it("starts again from the newest text when the query gets shorter", () => {
    const editor = editorWith("", "emacs", historyOf(...history));
    press(editor, "<ctrl+r>test<ctrl+r>");
    expect(shown(editor)).toBe("npm |test");
    press(editor, "<backspace>");
    expect(shown(editor)).toBe("écrire un |test");
  });

  it("distinguishes capital letters only if the query has one", () => {
    const editor = editorWith("", "emacs", historyOf("Fix README", "read me"));
    press(editor, "<ctrl+r>READ");
    expect(shown(editor)).toBe("Fix |README");
    press(editor, "<escape><ctrl+r>read");
    expect(shown(editor)).toBe("|read me");
  });
});

describe("completion", () => {
  it.each<[string, Editor["completion"]]>([
    ["/", { trigger: "/", query: "" }],
    ["/mod", { trigger: "/", query: "mod" }],
    ["/mod<left>", { trigger: "/", query: "mo" }],
    ["/model gpt", undefined],
    [" /mod", undefined],
    ["a\n/mod", undefined],
    ["/mod<home>", undefined],
    ["@", { trigger: "@", query: "" }],
    ["see @src/fo", { trigger: "@", query: "src/fo" }],
    ["see\n@src", { trigger: "@", query: "src" }],
    ["(@src", { trigger: "@", query: "src" }],
    ["me@example", undefined],
    ["@src and", undefined],
    ['@"my fi', { trigger: "@", query: "my fi" }],
    ['@"my file" ', undefined],
    ["#12", { trigger: "#", query: "12" }],
    ["a#12", undefined],
    ["# Title", undefined],
    ["/run @fo", { trigger: "@", query: "fo" }],
    ["!ls -l", { trigger: "!", query: "ls -l" }],
    ["a !ls", undefined],
    ["", undefined],
  ])("of %j is %j", (script, expected) => {
    expect(editorWith(script).completion).toEqual(expected);
  });

  it.each<[string, string, string]>([
    ["/mo", "/model ", "/model |"],
    ["see @sr and<ctrl+left><left><left>", "@src/a.ts", "see @src/a.ts| and"],
    ['see @"my fi" and<ctrl+left><left><left>', '@"my file.txt"', 'see @"my file.txt"| and'],
    ["plain", "@x", "plain|"],
  ])("of %j is replaced by %j", (script, replacement, expected) => {
    const editor = editorWith(script);
    editor.complete(replacement);
    expect(shown(editor)).toBe(expected);
  });

  it("is none while the history is searched", () => {
    expect(editorWith("/mo<ctrl+r>").completion).toBeUndefined();
  });
});

const anyKey = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...typing("ab 界👍/@#!\\-_,.(\"'0$hjklwbexXDCdcyYpPuiaIAoOftrgG")) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom("", "ctrl+", "alt+", "shift+", "ctrl+alt+"),
        fc.constantFrom(
          ..."left right up down home end enter escape backspace delete tab".split(" "),
          ..."abdefjknprstuwyz_/<>".split(""),
        ),
      )
      .map(([modifiers, name]) => keyOf(modifiers + name)),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 30 }).map(pasteOf) },
  { weight: 1, arbitrary: fc.constantFrom("x\n".repeat(12), "界".repeat(1_001)).map(pasteOf) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }).map(keyOf) },
);
const anySession = fc.record({
  keys: fc.constantFrom<EditorKeys>("emacs", "vi"),
  pressed: fc.array(anyKey, { maxLength: 60 }),
  columns: fc.integer({ min: 1, max: 40 }),
});

describe("any sequence of keys", () => {
  test("is accepted, and the cursor stays inside of the rows", () => {
    fc.assert(
      fc.property(anySession, ({ keys, pressed, columns }) => {
        const editor = editorWith("", keys, historyOf("first", "second\n界界 two"));
        for (const key of pressed) {
          editor.press(key);
          const { rows, cursor } = editor.visibleRows({ columns, maxRows: 5 });
          const row = rows[cursor.row];
          const width = row?.reduce((sum, cell) => sum + cell.width, 0) ?? -1;
          expect(width).toBeLessThanOrEqual(columns);
          expect(cursor.column).toBeLessThanOrEqual(width);
          expect(cursor.column).toBeGreaterThanOrEqual(0);
          expect(rows.length).toBeLessThanOrEqual(5);
        }
      }),
    );
  });

  test("is undone step by step back to the start, and redone", () => {
    fc.assert(
      fc.property(anySession, ({ pressed }) => {
        const editor = editorWith();
        const typed = pressed.filter(
          (key) => key.type === "paste" || !["_", "/", "z", "r"].includes(key.name) || (!key.ctrl && !key.alt),
        );
        for (const key of typed) editor.press(key);
        const { text } = editor;
        const seen = new Set<string>([text]);
        while (editor.press(keyOf("ctrl+_")) === "changed") seen.add(editor.text);
        expect(editor.text).toBe("");
        while (editor.press(keyOf("alt+_")) === "changed") expect(seen).toContain(editor.text);
        expect(editor.text).toBe(text);
      }),
    );
  });

  test("leaves a text that contains each key's character and nothing that was not typed", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }), { maxLength: 20 }), (texts) => {
        const editor = editorWith();
        for (const text of texts) editor.press(pasteOf(text));
        expect(editor.text).toBe(texts.join("").replaceAll(/\r\n?/g, "\n").toWellFormed());
      }),
    );
  });
});
