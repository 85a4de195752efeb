import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Key } from "../../src/cli/terminal/screen/key.js";
import { Pager } from "../../src/cli/terminal/view/pager.js";
import { arbitraryText, arbitraryView, badLines, markdownLines, plainView, themes } from "./support/view.js";

function key(name: string): Key {
  const isCtrl = name.startsWith("ctrl-");
  return { type: "key", name: isCtrl ? name.slice("ctrl-".length) : name, ctrl: isCtrl, alt: false, shift: false };
}

function open(count = 100): { pager: Pager; shown: () => string[]; press: (...names: string[]) => string[] } {
  const lines = Array.from({ length: count }, (_line, index) => `line ${index}`);
  const pager = new Pager({ title: "Output", lines: () => lines });
  const shown = (): string[] => pager.rows(plainView(), 11);
  const press = (...names: string[]): string[] => {
    const results = names.map((name) => pager.press(key(name)));
    shown();
    return results;
  };
  shown();
  return { pager, shown, press };
}

describe("Pager", () => {
  it("shows a page and where it is", () => {
    const { shown } = open();
    expect(shown()).toHaveLength(11);
    expect(shown()[0]).toBe("line 0");
    expect(shown().at(-1)).toBe("Output · 1-10 of 100 · ↑↓ scroll · / search · q close");
  });

  it.each([
    [["down", "j", "up"], "line 1"],
    [["pagedown", " "], "line 20"],
    [["end", "pageup"], "line 80"],
    [["G", "home"], "line 0"],
    [["up"], "line 0"],
    [["end", "down", "pagedown"], "line 90"],
    [["ctrl-d"], "line 5"],
  ])("moves with %j", (names, first) => {
    const { press, shown } = open();
    press(...names);
    expect(shown()[0]).toBe(first);
  });

  it("reports whether anything has changed", () => {
    const { press } = open();
    expect(press("up", "down", "x", "q", "escape", "ctrl-c")).toEqual([
      "ignored",
      "changed",
      "ignored",
      "closed",
      "closed",
      "closed",
    ]);
  });

  it("finds text and goes on with n and N", () => {
    const { press, shown } = open();
    press("/", "l", "i", "n", "e", " ", "3", "x", "backspace");
    expect(shown().at(-1)).toBe("/line 3▏");
    press("enter");
    expect(shown()[0]).toBe("line 0");
    press("n");
    expect(shown()[0]).toBe("line 30");
    press("N", "N");
    expect(shown()).toContain("line 39");
    press("n", "n", "n");
    expect(shown()).toContain("line 31");
  });

  it("reaches every match of the last page and then starts again", () => {
    const { press, shown } = open();
    press("/", "9", "enter");
    // 9, 19 to 89, and 90 to 99.
    press(...Array.from({ length: 18 }, () => "n"));
    expect(shown()).toContain("line 99");
    press("n");
    expect(shown()).toContain("line 9");
  });

  it("says that there is no match, and leaves the search with Escape", () => {
    const { press, shown } = open();
    press("/", "z", "enter");
    expect(shown().at(-1)).toContain("not found: z");
    press("/", "a", "escape");
    expect(shown().at(-1)).not.toContain("/a");
    expect(press("q")).toEqual(["closed"]);
  });

  it("marks what was found", () => {
    const { press, pager } = open();
    press("/", "5", "enter");
    const { accent, underline, bold } = themes.dark;
    expect(pager.rows({ columns: 80, theme: themes.dark }, 11)).toContain(`line ${accent(underline(bold("5")))}`);
  });

  it("takes a pasted search without control characters", () => {
    const { press, pager, shown } = open();
    press("/");
    pager.press({ type: "paste", text: "line\u001b[2J" });
    expect(shown().at(-1)).toBe("/line␛[2J▏");
  });

  it("asks for the lines again when the width changes, and stays about where it was", () => {
    const text = "word ".repeat(1_000);
    const pager = new Pager({ title: "Text", lines: (view) => markdownLines(text, view) });
    pager.rows(plainView(100), 11);
    pager.press(key("end"));
    pager.rows(plainView(100), 11);
    const rows = pager.rows(plainView(50), 11);
    expect(rows.every((row) => row.length <= 50)).toBe(true);
    expect(rows.at(-1)).toMatch(/· (8|9)\d-\d+ of 1\d\d/);
  });

  it("shows a text without lines", () => {
    const pager = new Pager({ title: "Nothing", lines: () => [] });
    expect(pager.rows(plainView(), 3)).toEqual(["", "", "Nothing · empty · ↑↓ scroll · / search · q close"]);
    expect(["down", "end", "/", "a", "enter", "n", "q"].map((name) => pager.press(key(name))).at(-1)).toBe("closed");
  });

  it("has as many rows as the screen, none wider than it, whatever is pressed", () => {
    const names = [
      "up",
      "down",
      "pageup",
      "pagedown",
      "home",
      "end",
      "/",
      "n",
      "N",
      "enter",
      "a",
      "l",
      "\u00e9",
      "backspace",
      "escape",
    ];
    fc.assert(
      fc.property(
        arbitraryText,
        fc.array(fc.constantFrom(...names)),
        fc.integer({ min: 1, max: 30 }),
        arbitraryView,
        (text, keys, rows, view) => {
          const pager = new Pager({ title: text, lines: (own) => markdownLines(text, own) });
          for (const name of ["home", ...keys]) {
            const shown = pager.rows(view, rows);
            expect(shown).toHaveLength(rows);
            expect(badLines(shown, view)).toEqual([]);
            pager.press(key(name));
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
