import * as fc from "fast-check";
import { cellWidth } from "../../../src/cli/terminal/screen/cells.js";
import { MarkdownStream } from "../../../src/cli/terminal/view/markdown.js";
import { themeFor } from "../../../src/cli/terminal/view/themes.js";
import type { Theme, View } from "../../../src/cli/terminal/view/view.js";

const links = { TERM_PROGRAM: "WezTerm" };

export const themes = {
  dark: themeFor({ env: { TERM: "xterm-256color", COLORTERM: "truecolor", ...links }, background: "dark" }),
  light: themeFor({ env: { TERM: "xterm" }, background: "light" }),
  none: themeFor({ env: { TERM: "xterm", NO_COLOR: "1" }, background: "dark" }),
  text: themeFor({ env: { TERM: "dumb" }, background: "dark" }),
};

/** A view without any styles. */
export function plainView(columns = 80): View {
  return { columns, theme: themes.text };
}

export const arbitraryView = fc.record({
  columns: fc.integer({ min: 20, max: 200 }),
  theme: fc.constantFrom<Theme>(...Object.values(themes)),
});

/** SGR and OSC 8. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const sequences = /\u001b\[[0-9;]*m|\u001b\]8;;[\u0021-\u007e]*\u001b\\/g;
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const control = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** The lines of a complete text. */
export function markdownLines(text: string, view: View): string[] {
  const stream = new MarkdownStream();
  stream.push(text);
  return stream.end(view);
}

export function withoutStyles(lines: readonly string[]): string[] {
  return lines.map((line) => line.replaceAll(sequences, ""));
}

/** The lines that are wider than the view or contain a control character that no theme has written. */
export function badLines(lines: readonly string[], { columns }: View): string[] {
  return lines.filter((line) => cellWidth(line) > columns || control.test(line.replaceAll(sequences, "")));
}

const hostile = [
  "\u001b[2J",
  "\u001b]0;title\u0007",
  "\u001b]8;;http://evil\u001b\\x",
  "\u009b31m",
  "\u0007",
  "\r",
  "\u202e",
  "\u0000",
  "\t",
];
const scripts = [
  "naïve",
  "你好世界",
  "👩‍👩‍👧‍👦",
  "🇩🇪🇫🇷",
  "✔️",
  "e\u0301\u0301",
  "สวัสดี",
  "नमस्ते",
  "1️⃣",
  "\u200d",
  "\ud800",
  "한국어",
  "\u00ad",
];
const words = [
  "a",
  "word",
  "longer",
  "x".repeat(130),
  "src/cli/terminal/view.ts:12",
  "https://example.com/a?b=c#d",
  " ",
  "  ",
];

/** Words of many scripts, and sequences that a terminal would obey. */
export const arbitraryLine = fc
  .array(fc.oneof(fc.constantFrom(...words, ...scripts, ...hostile), fc.string({ unit: "binary", maxLength: 8 })), {
    maxLength: 30,
  })
  .map((parts) => parts.join(" ").replaceAll("\n", " "));

export const arbitraryText = fc.array(arbitraryLine, { maxLength: 12 }).map((lines) => lines.join("\n"));

const marks = [
  "# ",
  "### ",
  "- ",
  "* ",
  "  - ",
  "    ",
  "1. ",
  "2) ",
  "- [ ] ",
  "   ",
  "> ",
  "> - ",
  "| ",
  "```ts",
  "```",
  "   ```",
  "~~~",
  "---",
  "===",
  "|---|---|",
  "| a | b |",
  "<div>",
  "[a]: http://b",
  "",
  "",
  "",
];
const inline = [
  "**",
  "*",
  "`",
  "``",
  "[",
  "](http://e.org)",
  "~~",
  "|",
  "_",
  "<br>",
  "&amp;",
  "\\",
  "![i](u)",
  "word",
  " ",
  "  ",
];

/** Lines that begin and contain what Markdown interprets. */
export const arbitraryMarkdown = fc
  .array(
    fc.tuple(
      fc.constantFrom(...marks),
      fc.array(
        fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...inline) }, { weight: 1, arbitrary: arbitraryLine }),
        { maxLength: 8 },
      ),
    ),
    { maxLength: 25 },
  )
  .map((lines) => lines.map(([mark, parts]) => mark + parts.join("")).join("\n"));
