import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { Painter } from "../../src/cli/terminal/screen/painter.js";
import { languagesLoaded, requestLanguage } from "../../src/cli/terminal/view/highlight.js";
import { MarkdownStream } from "../../src/cli/terminal/view/markdown.js";
import type { View } from "../../src/cli/terminal/view/view.js";
import { Emulator } from "./support/emulator.js";
import {
  arbitraryMarkdown,
  arbitraryText,
  arbitraryView,
  badLines,
  markdownLines,
  plainView,
  themes,
  withoutStyles,
} from "./support/view.js";

const dark: View = { columns: 80, theme: themes.dark };

function shown(text: string, columns = 60): string[] {
  return withoutStyles(markdownLines(text, { columns, theme: themes.dark }));
}

/** Everything that a stream returns when the text arrives in these pieces. */
function streamed(pieces: readonly string[], view: View): string[] {
  const stream = new MarkdownStream();
  const lines = pieces.flatMap((piece) => {
    stream.push(piece);
    stream.openLines(view, 10);
    return stream.takeFinished(view);
  });
  return [...lines, ...stream.end(view)];
}

beforeAll(async () => {
  for (const language of ["ts", "python", "html"]) requestLanguage(language);
  await languagesLoaded();
});

describe("markdownLines", () => {
  it("separates blocks by one empty line, however many the text has", () => {
    expect(shown("one\n\n\n\ntwo\n# three\nfour")).toEqual(["one", "", "two", "", "three", "", "four"]);
  });

  it("wraps paragraphs at words and keeps their line breaks", () => {
    expect(shown("The quick brown fox jumps over\nthe lazy dog", 20)).toEqual([
      "The quick brown fox",
      "jumps over",
      "the lazy dog",
    ]);
  });

  it("breaks words that are too long, and text without spaces anywhere", () => {
    expect(shown(`see ${"x".repeat(45)} end`, 20)).toEqual(["see", "x".repeat(20), "x".repeat(20), "xxxxx end"]);
    expect(shown("ab 你好世界你好世界你好世界", 20)).toEqual(["ab 你好世界你好世界", "你好世界"]);
  });

  it("styles inline text", async () => {
    const emulator = new Emulator();
    await emulator.write(markdownLines("**bold *both* bold** _italic_ `code` plain", dark).join("\r\n"));
    expect(emulator.screen()).toEqual(["bold both bold italic code plain"]);
    expect(emulator.attributesOf("bold both")).toMatchObject({ bold: true, italic: false });
    expect(emulator.attributesOf("both")).toMatchObject({ bold: true, italic: true });
    expect(emulator.attributesOf("bold italic")).toMatchObject({ bold: true, italic: false });
    expect(emulator.attributesOf("italic")).toMatchObject({ bold: false, italic: true });
    expect(emulator.attributesOf("code").foreground).toBe("#8bd5e6");
    expect(emulator.attributesOf("plain")).toMatchObject({ bold: false, italic: false, foreground: undefined });
  });

  it("keeps the marks where the terminal has no styles", () => {
    expect(markdownLines("## T\n\n**b** *i* `c` ~~d~~ [l](http://e.org)\n- [x] done", plainView())).toEqual([
      "## T",
      "",
      "**b** *i* `c` ~~d~~ l (http://e.org)",
      "",
      "[x] done",
    ]);
  });

  it("links with OSC 8 where the terminal knows it, and only to addresses", () => {
    const [line = ""] = markdownLines("[text](https://e.org/x) [run](javascript:x) [esc](http://a\u001b]0;b)", dark);
    expect(line).toContain("\u001b]8;;https://e.org/x\u001b\\");
    expect(line).not.toContain("\u001b]8;;javascript");
    expect(line).not.toContain("\u001b]0;");
    expect(withoutStyles([line])[0]).toContain("run (javascript:x)");
  });

  it("links each row of a link that is broken", () => {
    const lines = markdownLines(`[${"word ".repeat(10).trim()}](https://e.org)`, { columns: 20, theme: themes.dark });
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line.split("\u001b]8;;https://e.org\u001b\\")).toHaveLength(2);
  });

  it("nests lists and indents what belongs to an item", () => {
    const text =
      "1. one is long enough to be broken\n   - nested\n\n2. two\n   ```\n   code\n   ```\n   after\n9. last";
    expect(shown(text, 24)).toEqual([
      "1. one is long enough to",
      "   be broken",
      "   ◦ nested",
      "",
      "2. two",
      "     code",
      "   after",
      "3. last",
    ]);
  });

  it("nests an item of an ordered list that is indented by two spaces", () => {
    expect(shown("1. a\n  - b\n2. c")).toEqual(["1. a", "   ◦ b", "2. c"]);
  });

  it("numbers a list from its first number, also across items with code", () => {
    expect(shown("7. a\n```\nx\n```\n")).toEqual(["7. a", "", "  x"]);
    expect(shown("7. a\n   ```\n   x\n   ```\n1. b")).toEqual(["7. a", "     x", "8. b"]);
  });

  it("shows quotes behind a bar", () => {
    expect(shown("> one\n> two\n>\n> - three\nlazy")).toEqual(
      ["│ one", "│ two", "│", "│ ◦ three", "│   lazy"].map((line) => (line === "│" ? "│ " : line)),
    );
  });

  it("aligns tables", () => {
    expect(shown("| Name | N |\n|:-----|--:|\n| `a` | 1 |\n| longer | 12 |")).toEqual([
      "Name   │  N",
      "───────┼───",
      "a      │  1",
      "longer │ 12",
    ]);
  });

  it("wraps the cells of a table that is too wide", () => {
    expect(shown("| Key | Value |\n|---|---|\n| a | one two three four five |\n| b | x |", 20)).toEqual([
      "Key │ Value",
      "────┼───────────────",
      "a   │ one two three",
      "    │ four five",
      "────┼───────────────",
      "b   │ x",
    ]);
  });

  it("shows the rows of a table with too many columns as records", () => {
    const header = "| first | second | third | fourth |\n|---|---|---|---|\n";
    expect(shown(`${header}| aaaaaa | bbbbbb | cccccc | dddddd |`, 20)).toEqual([
      "first: aaaaaa",
      "second: bbbbbb",
      "third: cccccc",
      "fourth: dddddd",
    ]);
  });

  it("keeps the cells that a row has beyond its header, such as code with a bar in it", () => {
    const rows = "| `a | b` | c |\n| d | e | f |\n| g \\| h | i |";
    expect(shown(`| Type | Text |\n|---|---|\n${rows}`)).toEqual([
      "Type  │ Text",
      "──────┼──────",
      "a | b │ c",
      "d     │ e | f",
      "g | h │ i",
    ]);
  });

  it("takes a table without an empty line before it", () => {
    expect(shown("Text:\n| a | b |\n|---|---|\n| c | d |\nend | x |").slice(0, 4)).toEqual([
      "Text:",
      "",
      "a   │ b",
      "────┼──",
    ]);
  });

  it("highlights code when its language is loaded", async () => {
    const emulator = new Emulator();
    await emulator.write(markdownLines("```ts\nconst a = `x${1}`; // <end>\n```", dark).join("\r\n"));
    expect(emulator.screen()).toEqual(["  const a = `x${1}`; // <end>"]);
    expect(emulator.attributesOf("const").foreground).toBe("#cf9ff5");
    expect(emulator.attributesOf("// <end>").foreground).toBe("#8b909c");
    expect(emulator.attributesOf("a =").foreground).toBeUndefined();
  });

  it("shows code plainly until its language is loaded", async () => {
    const code = "```erlang\n-module(a). % comment\n```\n";
    const stream = new MarkdownStream();
    stream.push(code);
    expect(stream.takeFinished(dark)).toEqual(["  -module(a). % comment"]);
    await languagesLoaded();
    expect(languagesLoaded()).toBeUndefined();
    expect(markdownLines(code, dark).join("")).toContain(themes.dark.syntax("comment", "% comment"));
  });

  it("shows code in unknown languages and of endless lines plainly", () => {
    expect(shown("```nonsense\n<a> & b\n```")).toEqual(["  <a> & b"]);
    expect(markdownLines(`\`\`\`ts\n${"x".repeat(3_000)}\n\`\`\``, dark)).toHaveLength(Math.ceil(3_000 / 78));
  });

  it("keeps the spaces and empty lines of code", () => {
    expect(shown("```\n  a\n\n\tb  c\n```")).toEqual(["    a", "", "      b  c"]);
  });

  it("colours the lines of a diff", () => {
    const lines = markdownLines("```diff\n-a\n+b\n c\n```", dark);
    expect(lines).toEqual([`  ${themes.dark.removed("-a")}`, `  ${themes.dark.added("+b")}`, "   c"]);
  });

  it("loses no text: HTML, definitions of links and markers without end are shown", () => {
    expect(shown("<details>\nx\n</details>\n\n[a]: http://b\n\n**open `tick")).toEqual([
      "<details>",
      "x",
      "</details>",
      "",
      "[a]: http://b",
      "",
      "**open `tick",
    ]);
  });

  it("loses no word, whatever is around it", () => {
    const starts = [
      "# ",
      "- ",
      "  - ",
      "    ",
      "1. ",
      "- [ ] ",
      "> ",
      "> - ",
      "| ",
      "---",
      "|---|---|",
      "| a | b |",
      "<div>",
      "",
    ];
    const part = fc.constantFrom("W", "W", "**", "*", "`", "_", " ", " | ", "\\", "<b>", "&amp;");
    const line = fc
      .tuple(fc.constantFrom(...starts), fc.array(part, { maxLength: 6 }))
      .map(([start, parts]) => start + parts.join(""));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        let count = 0;
        // Three backquotes begin code, and the word after them is its language.
        const text = lines
          .join("\n")
          .replaceAll("```", "``")
          .replaceAll("W", () => `q${(count += 1)}q`);
        const drawn = markdownLines(text, plainView(150)).join("\n");
        const words = Array.from({ length: count }, (_word, index) => `q${index + 1}q`);
        expect(words.filter((word) => !drawn.includes(word))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("survives markers that are nested thousands of times", () => {
    for (const mark of [">", "> ", "- ", "[", "**", "*a ", "`", "<", "![", "| "]) {
      expect(badLines(markdownLines(mark.repeat(5_000), dark), dark)).toEqual([]);
    }
  });

  it("does not interpret words that consist of marks, which takes the lexer a second", () => {
    const text = "*a_".repeat(300);
    expect(shown(`${text} **bold**`).join("")).toBe(`${text}**bold**`);
  });

  it("has no line wider than the view and no control sequence but the theme's", () => {
    fc.assert(
      fc.property(fc.oneof(arbitraryMarkdown, arbitraryText), arbitraryView, (text, view) => {
        expect(badLines(markdownLines(text, view), view)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("MarkdownStream", () => {
  it("returns the same lines however the text was cut", () => {
    fc.assert(
      fc.property(
        arbitraryMarkdown,
        fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 40 }),
        arbitraryView,
        (text, sizes, view) => {
          expect(streamed(piecesOf(text, sizes), view)).toEqual(markdownLines(text, view));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("draws the open text within the view and the rows, whatever has arrived", () => {
    fc.assert(
      fc.property(
        arbitraryMarkdown,
        fc.nat({ max: 400 }),
        fc.integer({ min: 0, max: 8 }),
        arbitraryView,
        (text, end, rows, view) => {
          const stream = new MarkdownStream();
          stream.push(text.slice(0, end));
          const lines = stream.openLines(view, rows);
          expect(badLines(lines, view)).toEqual([]);
          expect(lines.length).toBeLessThanOrEqual(rows);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("returns a block once, when the next one begins", () => {
    const stream = new MarkdownStream();
    stream.push("one\ntwo");
    expect(stream.takeFinished(dark)).toEqual([]);
    expect(stream.openLines(dark, 10)).toEqual(["one", "two"]);
    stream.push("\n\nthr");
    expect(stream.takeFinished(dark)).toEqual(["one", "two"]);
    expect(stream.openLines(dark, 10)).toEqual(["", "thr"]);
    expect(stream.takeFinished(dark)).toEqual([]);
    stream.push("ee");
    expect(stream.end(dark)).toEqual(["", "three"]);
    expect(stream.end(dark)).toEqual([]);
  });

  it("returns the items of a list one by one", () => {
    const stream = new MarkdownStream();
    stream.push("- one\n- two\n- thr");
    expect(withoutStyles(stream.takeFinished(dark))).toEqual(["• one"]);
    expect(withoutStyles(stream.openLines(dark, 10))).toEqual(["• two", "• thr"]);
  });

  it("shows code in a line and bold text before they end", () => {
    const stream = new MarkdownStream();
    stream.push("some **bold te");
    expect(stream.openLines(dark, 5)).toEqual([`some ${themes.dark.bold("bold te")}`]);
    stream.push("xt** and `co");
    expect(withoutStyles(stream.openLines(dark, 5))).toEqual(["some bold text and co"]);
  });

  it("does not show the end of a fence as code", () => {
    const stream = new MarkdownStream();
    stream.push("```\ncode\n``");
    expect(stream.openLines(dark, 5)).toEqual(["  code"]);
  });

  it.each([
    ["code", "```ts\n", (line: number) => (line % 7 === 6 ? `\n// ${line}\n` : `  const value${line} = ${line};\n`)],
    ["code in a list", "1. item\n   ```ts\n", (line: number) => `   const value${line} = ${line};\n`],
    ["a list", "", (line: number) => `- item ${line}\n`],
    ["a nested list", "- item\n", (line: number) => `  - item ${line}\n`],
    ["a paragraph", "", (line: number) => `line ${line}\n`],
    ["a quote", "", (line: number) => `> line ${line}\n`],
    ["a table", "| a | b |\n|---|---|\n", (line: number) => `| ${line} | x |\n`],
    ["one line", "", (line: number) => `word${line} `],
  ])("finishes the parts of a long block: %s", (_what, start, lineOf) => {
    const view = { columns: 80, theme: themes.none };
    const stream = new MarkdownStream();
    const lines = [];
    let most = 0;
    stream.push(start);
    for (let line = 0; line < 5_000; line += 1) {
      stream.push(lineOf(line));
      lines.push(...stream.takeFinished(view));
      if (line % 50 === 49) most = Math.max(most, stream.openLines(view, 1_000).length);
    }
    expect(most).toBeLessThan(130);
    expect(most).toBeGreaterThan(0);
    lines.push(...stream.end(view));
    const text = lines.join(" ");
    const missing = Array.from({ length: 5_000 }, (_line, index) => index).filter(
      (index) => !text.includes(`${index}`),
    );
    expect(missing).toEqual([]);
  });

  it("repeats the header of a long table and none of its rows", () => {
    const rows = Array.from({ length: 150 }, (_row, index) => `| row ${index} | x |`);
    const lines = markdownLines(["| a | b |", "|---|---|", ...rows].join("\n"), plainView());
    expect(lines.filter((line) => line.startsWith("a "))).toHaveLength(3);
    expect(lines.filter((line) => line.startsWith("row "))).toHaveLength(150);
  });
});

describe("a streamed answer on the screen", () => {
  it.each([30, 80, 140])("is the same transcript as at once, %i columns wide", async (columns) => {
    const view: View = { columns, theme: themes.dark };
    const emulator = new Emulator({ columns, rows: 12 });
    const painter = new Painter(
      { columns, rows: 12, reflow: "xterm_js", write: (text) => emulator.write(text) },
      { frameMs: 1 },
    );
    const stream = new MarkdownStream();
    painter.show(() => ({ lines: [...stream.openLines(view, 5), "> "] }));
    for (const piece of piecesOf(answer, [3, 11, 0, 25])) {
      stream.push(piece);
      painter.print(stream.takeFinished(view));
      painter.refresh();
      await painter.flushed();
    }
    painter.print(stream.end(view));
    await painter.flushed();
    const expected = withoutStyles(markdownLines(answer, view)).map((line) => line.trimEnd());
    expect(emulator.transcript()).toEqual([...expected, ">"]);
  });
});

const answer = `# Plan

The parser drops **empty lines**, see \`readLine\` and [the docs](https://example.com/docs).
1. Fix it:
   \`\`\`ts
   export const readLine = (text: string) => text; // 你好
   \`\`\`
2. Test it
   - with empty lines
   - with emoji 👍

| File | Change |
|---|---|
| src/parser.ts | keeps empty lines, which it has dropped since the first version |
| test | new |

> Note: ${"long ".repeat(40)}

\`\`\`python
${Array.from({ length: 70 }, (_line, index) => `value_${index} = ${index}`).join("\n")}
\`\`\`
Done.
`;

function piecesOf(text: string, sizes: readonly number[]): string[] {
  const pieces = [];
  let start = 0;
  for (let count = 0; start < text.length; count += 1) {
    const size = (sizes[count % sizes.length] ?? 0) + 1;
    pieces.push(text.slice(start, start + size));
    start += size;
  }
  return pieces;
}
