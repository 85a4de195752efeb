import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { visible } from "../../src/base/text/visible.js";
import { Menu, type MenuItem, type MenuOptions } from "../../src/cli/terminal/model/menu.js";
import { cellWidth } from "../../src/cli/terminal/screen/cells.js";
import { menuLines } from "../../src/cli/terminal/view/menu.js";
import { keyOf, pasteOf, typing } from "./support/keys.js";
import { plainView } from "./support/view.js";

const models: MenuItem<string>[] = [
  { value: "a", label: "gpt-5", description: "the default" },
  { value: "b", label: "gpt-5-mini", description: "faster" },
  { value: "c", label: "claude", description: "Anthropic's" },
  { value: "d", label: "offline" },
];

function menuOf(options: Partial<MenuOptions<string>> = {}): Menu<string> {
  return new Menu({ title: "Models", items: models, ...options });
}

function press(menu: Menu<string>, ...names: string[]): string[] {
  return names.map((name) => menu.press(keyOf(name)));
}

function inHalf(text: string): string {
  return text.padEnd(50);
}

describe("a menu", () => {
  it("moves up and down and around the ends", () => {
    const menu = menuOf();
    expect(menu.selected).toBe("a");
    press(menu, "down", "ctrl+n");
    expect(menu.selected).toBe("c");
    press(menu, "ctrl+p", "up", "up");
    expect(menu.selected).toBe("d");
    press(menu, "down");
    expect(menu.selected).toBe("a");
    press(menu, "end");
    expect(menu.selected).toBe("d");
    press(menu, "pageup");
    expect(menu.selected).toBe("a");
  });

  it("reports what a key has done", () => {
    const menu = menuOf();
    expect(press(menu, "down", "x", "backspace", "backspace", "enter", "tab", "escape", "ctrl+c", "ctrl+o")).toEqual([
      "changed",
      "changed",
      "changed",
      "ignored",
      "chosen",
      "chosen",
      "closed",
      "closed",
      "ignored",
    ]);
  });

  it("filters while a person types, and selects the best match", () => {
    const menu = menuOf();
    press(menu, "down", "m", "i");
    expect([menu.query, menu.selected, menu.rows.length]).toEqual(["mi", "b", 1]);
    press(menu, "x");
    expect([menu.selected, press(menu, "enter")]).toEqual([undefined, ["ignored"]]);
    press(menu, "ctrl+u");
    expect([menu.query, menu.selected, menu.rows.length]).toEqual(["", "a", 4]);
    menu.press(pasteOf("cl\naude "));
    expect(menu.query).toBe("cl aude");
    menu.press(pasteOf("x".repeat(1_000_000)));
    expect(menu.query.length).toBe(200);
    menu.query = "cl aude";
    press(menu, "ctrl+w");
    expect(menu.query).toBe("cl ");
    expect(menu.selected).toBe("c");
  });

  it("leaves text to the editor if the query is typed there", () => {
    const menu = menuOf({ takesText: false });
    expect(press(menu, "x", "backspace", "down")).toEqual(["ignored", "ignored", "changed"]);
    menu.query = "claude";
    expect(menu.selected).toBe("c");
  });

  it("keeps the order and takes no text without a filter", () => {
    const menu = menuOf({ filter: "none" });
    expect(press(menu, "m")).toEqual(["ignored"]);
    expect(menu.rows.map(({ item }) => item.value)).toEqual(["a", "b", "c", "d"]);
  });

  it("keeps the selected value when items come and go", () => {
    const menu = menuOf();
    menu.select("c");
    menu.setItems([{ value: "x", label: "new" }, ...models]);
    expect(menu.selected).toBe("c");
    menu.setItems(models.slice(0, 2));
    expect(menu.selected).toBe("b");
    menu.setItems([]);
    expect([menu.selected, press(menu, "down")]).toEqual([undefined, ["ignored"]]);
  });
});

describe("the view of a menu", () => {
  it("shows labels and descriptions in columns and marks the selected item without colour", () => {
    const menu = menuOf();
    press(menu, "down");
    expect(menuLines(menu, plainView(50), 10)).toEqual([
      "Models  (4)",
      "/ type to filter",
      "  gpt-5       the default",
      "› gpt-5-mini  faster",
      "  claude      Anthropic's",
      "  offline",
    ]);
  });

  it("shows what was typed and how many items match", () => {
    const menu = menuOf();
    for (const key of typing("gpt")) menu.press(key);
    expect(menuLines(menu, plainView(50), 10)).toEqual([
      "Models  (2 of 4)",
      "/ gpt",
      "› gpt-5       the default",
      "  gpt-5-mini  faster",
    ]);
    for (const key of typing("xx")) menu.press(key);
    expect(menuLines(menu, plainView(50), 10)).toEqual(["Models  (0 of 4)", "/ gptxx", "  no match"]);
  });

  it("marks the matching letters", () => {
    const menu = menuOf();
    for (const key of typing("mini")) menu.press(key);
    const view = plainView(50);
    const theme = { ...view.theme, underline: (text: string) => `_${text}` };
    expect(menuLines(menu, { ...view, theme }, 10)[2]).toBe("› gpt-5-_m_i_n_i  faster");
  });

  it("scrolls with the selected item", () => {
    const menu = menuOf({ takesText: false });
    press(menu, "down", "down");
    expect(menuLines(menu, plainView(50), 3)).toEqual([
      "Models  (4)",
      "  gpt-5-mini  faster",
      "› claude      Anthropic's",
    ]);
    press(menu, "up", "up");
    expect(menuLines(menu, plainView(50), 2)).toEqual(["Models  (4)", "› gpt-5  the default"]);
    expect(menuLines(menu, plainView(50), 1)).toEqual(["› gpt-5  the default"]);
  });

  it("cuts what is too long", () => {
    const items = [{ value: "a", label: "a rather long label", description: "a description that is longer" }];
    const menu = menuOf({ items, takesText: false });
    expect(menuLines(menu, plainView(40), 5)[1]).toBe("› a rather long label  a description th…");
    expect(menuLines(menu, plainView(20), 5)[1]).toBe("› a rather long lab…");
  });

  it("shows a preview beside the items where there is room", () => {
    const menu = menuOf({
      preview: (value) => [`preview of ${value}`, "second line", "third line", "4", "5", "6"],
      takesText: false,
    });
    expect(menuLines(menu, plainView(100), 6)).toEqual([
      "Models  (4)",
      `${inHalf("› gpt-5       the default")} │ preview of a`,
      `${inHalf("  gpt-5-mini  faster")} │ second line`,
      `${inHalf("  claude      Anthropic's")} │ third line`,
      `${inHalf("  offline")} │ 4`,
      `${inHalf("")} │ 5`,
    ]);
    expect(menuLines(menu, plainView(99), 6)[1]).toBe("› gpt-5       the default");
  });

  it("leaves out descriptions beside a preview if they do not all fit", () => {
    const items = [{ value: "a", label: "a label of forty characters, more or less", description: "2026-11-19" }];
    const menu = menuOf({ items, preview: () => ["preview"], takesText: false });
    expect(menuLines(menu, plainView(100), 3)[1]).toBe(
      `${inHalf("› a label of forty characters, more or less")} │ preview`,
    );
  });

  it("aligns descriptions after labels that need more than half, if all of them fit", () => {
    const items = [
      { value: "a", label: "a label that is long", description: "one" },
      { value: "b", label: "short", description: "two" },
    ];
    const menu = menuOf({ items, takesText: false });
    expect(menuLines(menu, plainView(30), 5).slice(1)).toEqual([
      "› a label that is long  one",
      "  short                 two",
    ]);
  });

  it("lets no label or description move the cursor", () => {
    const items = [{ value: "a", label: "a\u001b[2Jb\nc", description: "\u202ed\u0007" }];
    const [, line] = menuLines(menuOf({ items, takesText: false }), plainView(80), 5);
    expect(line).toBe("› a\\033[2Jb\\nc  \\342\\200\\256d\\007");
  });
});

test("no line is wider than the view, and there are not more lines than rows", () => {
  const item = fc.record({
    value: fc.string(),
    label: fc.string({ unit: "grapheme", maxLength: 30 }),
    description: fc.string({ unit: "binary", maxLength: 60 }),
  });
  const session = fc.record({
    items: fc.array(item, { maxLength: 12 }),
    keys: fc.array(fc.constantFrom("down", "up", "pagedown", "end", "a", "界", "backspace"), { maxLength: 10 }),
    columns: fc.integer({ min: 1, max: 120 }),
    rows: fc.integer({ min: 1, max: 8 }),
    title: fc.string({ unit: "grapheme" }),
  });
  fc.assert(
    fc.property(session, ({ items, keys, columns, rows, title }) => {
      const menu = new Menu({ title, items, preview: (value) => [visible(value), "界".repeat(80)] });
      for (const key of keys) menu.press(keyOf(key));
      const lines = menuLines(menu, plainView(columns), rows);
      expect(lines.length).toBeLessThanOrEqual(rows);
      for (const line of lines) expect(cellWidth(line)).toBeLessThanOrEqual(columns);
      const isShown = lines.some((line) => line.startsWith("›"));
      expect(isShown).toBe(menu.selected !== undefined);
    }),
  );
});
