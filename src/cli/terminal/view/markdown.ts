import { Lexer, type Token, type Tokens } from "marked";
import { harmless } from "../../../base/text/harmless.js";
import { borderBefore } from "../../../base/text/truncate.js";
import { cellWidth } from "../screen/cells.js";
import { codeLines } from "./highlight.js";
import { type Block, BlockScanner } from "./markdown-blocks.js";
import { surplusCells, type Table, tableLines } from "./markdown-table.js";
import { type Run, wrapRuns } from "./rows.js";
import type { Style, Theme, View } from "./view.js";

// Loading `marked` takes as long as drawing the first frame, so this file is imported with the first answer.

/** A longer line is taken as several ones, so that an open line stays cheap to draw. */
const maxLineChars = 4_096;
/** Text nested more deeply than this is not indented any further. */
const minCells = 12;
const codeIndent = "  ";

const maxMarks = 200;
const longWord = /\S{200,}/g;

/** Lines that are drawn besides those that may be visible, because some of them make no row. */
const spareLines = 8;

/** A line that may become anything: it is not drawn before it has more characters. */
const undecided = /^\s*(?:[-*+#>|`~_=]+|\d{1,9}[.)]?)\s*$/;

/**
 * Markdown that arrives in pieces. Finished blocks are returned once and never change. The open block is small: long
 * blocks are finished in parts. How the text was cut into pieces makes no difference.
 */
export class MarkdownStream {
  #scanner = new BlockScanner();
  /** The line that has not ended yet. */
  #line = "";

  push(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#line += text.slice(start, end);
      this.#cutLine();
      this.#endLine();
      start = end + 1;
    }
    this.#line += text.slice(start);
    this.#cutLine();
  }

  /** The lines of the blocks that have become final since the last call. */
  takeFinished(view: View): string[] {
    return this.#scanner.take().flatMap((block) => blockLines(block, view));
  }

  /**
   * The last lines of the text that is not final yet, about as they would be if it ended here: of a long block only the
   * end is drawn, so a text that began before it may have no style.
   */
  openLines(view: View, maxRows: number): string[] {
    const copy = this.#scanner.copyOfOpen(maxRows + spareLines);
    if (this.#line.trim() !== "" && !undecided.test(this.#line)) copy.line(cleaned(completed(this.#line)));
    copy.finish();
    const lines = copy.take().flatMap((block) => blockLines(block, view));
    return maxRows < 1 ? [] : lines.slice(-maxRows);
  }

  /** The text is complete. Returns the lines that `takeFinished` has not returned. */
  end(view: View): string[] {
    if (this.#line !== "") this.#endLine();
    this.#scanner.finish();
    return this.takeFinished(view);
  }

  #endLine(): void {
    const line = this.#line;
    this.#line = "";
    this.#scanner.line(cleaned(line));
  }

  #cutLine(): void {
    while (this.#line.length > maxLineChars) {
      const line = this.#line;
      const space = line.lastIndexOf(" ", maxLineChars);
      const end = space > maxLineChars / 2 ? space + 1 : borderBefore(line, maxLineChars);
      this.#line = line.slice(0, end);
      this.#endLine();
      this.#line = line.slice(end);
    }
  }
}

function cleaned(line: string): string {
  return harmless(line).replaceAll("\t", "    ");
}

/** An open line with the ends of code and bold text that it has begun, so that their signs do not flicker. */
function completed(line: string): string {
  const ticks = line.match(/`+/g) ?? [];
  if (ticks.length % 2 === 1)
    return line.endsWith("`") ? line.slice(0, -(ticks.at(-1) ?? "").length) : `${line}${ticks.at(-1)}`;
  const stars = line.match(/\*\*/g) ?? [];
  if (stars.length % 2 === 0) return line;
  return line.endsWith("**") ? line.slice(0, -2) : `${line.replace(/[\s*]+$/, "")}**`;
}

function blockLines(block: Block, view: View): string[] {
  const indent = " ".repeat(Math.min(block.indent, Math.max(0, view.columns - minCells)));
  const inner = { ...view, columns: view.columns - indent.length };
  const lines = block.type === "code" ? codeBlockLines(block, inner) : textLines(block.source, inner, block.number);
  if (lines.length === 0) return [];
  const indented = indent === "" ? lines : lines.map((line) => (line === "" ? "" : indent + line));
  return block.gap ? ["", ...indented] : indented;
}

function codeBlockLines(
  { lines, info }: { readonly lines: readonly string[]; readonly info: string },
  view: View,
): string[] {
  const inner = { ...view, columns: view.columns - codeIndent.length };
  return codeLines(lines, info, inner).map((line) => (line === "" ? "" : codeIndent + line));
}

/** Markdown that contains no fenced code of its own, except in quotes. */
function textLines(source: string, view: View, number: number | undefined): string[] {
  if (isSlow(source)) return wrapRuns([{ text: source }], view.columns);
  let tokens: Token[];
  try {
    tokens = new Lexer({ gfm: true }).lex(source);
  } catch {
    // Markers nested thousands of levels deep.
    return wrapRuns([{ text: source }], view.columns);
  }
  return tokensLines(tokens, view, { number, depth: 0 });
}

/** The lexer takes a second for some words of 4,000 characters, most of which are marks. */
function isSlow(source: string): boolean {
  const words = source.length < maxMarks ? [] : (source.match(longWord) ?? []);
  return words.some((word) => (word.match(/[*_]/g)?.length ?? 0) > maxMarks);
}

interface Place {
  /** The number of the first item of an ordered list, where it is not the one in the text. */
  readonly number?: number | undefined;
  readonly depth: number;
}

const maxDepth = 30;

function tokensLines(tokens: readonly Token[], view: View, place: Place, isTight = false): string[] {
  const lines: string[] = [];
  let before: Token | undefined;
  let isFirst = true;
  for (const token of tokens) {
    const own = tokenLines(token, view, isFirst ? place : { depth: place.depth });
    if (token.type !== "space") isFirst = false;
    if (own.length === 0) continue;
    const isTogether = isTight && (token.type === "list" || token.type === "text") && before?.type === "text";
    if (before !== undefined && !isTogether) lines.push("");
    for (const line of own) lines.push(line);
    before = token;
  }
  return lines;
}

function tokenLines(token: Token, view: View, place: Place): string[] {
  const { columns, theme } = view;
  if (place.depth > maxDepth) return wrapRuns([{ text: token.raw.trim() }], columns);
  switch (token.type) {
    case "heading": {
      const { depth, tokens } = token as Tokens.Heading;
      const marks = theme.name === "none" ? [{ text: `${"#".repeat(depth)} `, style: theme.heading }] : [];
      const style: Style =
        depth === 1 ? (text) => theme.heading(theme.underline(text)) : depth === 2 ? theme.heading : theme.bold;
      return wrapRuns([...marks, ...inlineRuns(tokens, theme, style)], columns);
    }
    case "paragraph":
    case "text":
      return wrapRuns(inlineRuns(token.tokens ?? [token], theme), columns);
    case "list":
      return listLines(token as Tokens.List, view, place);
    case "blockquote": {
      const inner = { ...view, columns: Math.max(minCells, columns) - 2 };
      const bar = columns < minCells ? "" : theme.dim("│ ");
      return tokensLines(token.tokens ?? [], inner, { depth: place.depth + 1 }).map((line) => bar + line);
    }
    case "table":
      return tableLines(tableOf(token as Tokens.Table, theme), view);
    case "code": {
      const { text, lang = "" } = token as Tokens.Code;
      return codeBlockLines({ lines: text.split("\n"), info: lang }, view);
    }
    case "hr":
      return [theme.dim("─".repeat(columns))];
    case "space":
    case "checkbox":
      return [];
    default:
      // HTML and definitions of links: shown as they are, so that nothing is lost.
      return wrapRuns([{ text: token.raw.trim(), style: theme.dim }], columns);
  }
}

function tableOf({ header, rows, align, raw }: Tokens.Table, theme: Theme): Table {
  const sources = raw.split("\n").slice(2);
  return {
    header: header.map(({ tokens }) => inlineRuns(tokens, theme, theme.bold)),
    rows: rows.map((row, index) => {
      const cells = surplusCells(sources[index] ?? "", header.length)?.map((cell) => Lexer.lexInline(cell));
      return (cells ?? row.map(({ tokens }) => tokens)).map((tokens) => inlineRuns(tokens, theme));
    }),
    align,
  };
}

function listLines(list: Tokens.List, view: View, { number, depth }: Place): string[] {
  const { theme } = view;
  const first = number ?? (list.start === "" ? 1 : list.start);
  const bullet = depth === 0 ? "•" : "◦";
  return list.items.flatMap((item, index) => {
    const mark = list.ordered ? `${first + index}.` : item.task ? taskMark(item.checked === true, theme) : bullet;
    const width = cellWidth(mark) + 1;
    const isNarrow = view.columns - width < minCells;
    const inner = isNarrow ? view : { ...view, columns: view.columns - width };
    const lines = tokensLines(item.tokens, inner, { depth: depth + 1 }, !item.loose);
    const styledMark = list.ordered ? mark : theme.dim(mark);
    const gap = index > 0 && list.loose ? [""] : [];
    if (isNarrow) return [...gap, styledMark, ...lines];
    const rest = lines.slice(1).map((line) => (line === "" ? "" : " ".repeat(width) + line));
    return [...gap, `${styledMark} ${lines[0] ?? ""}`.trimEnd(), ...rest];
  });
}

function taskMark(isDone: boolean, { name }: Theme): string {
  if (name === "none") return isDone ? "[x]" : "[ ]";
  return isDone ? "☑" : "☐";
}

const htmlEntity = /&(?:amp|lt|gt|quot|apos|nbsp|#39);/g;
const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#39;": "'",
  "&nbsp;": " ",
};

function inlineRuns(tokens: readonly Token[], theme: Theme, style?: Style): Run[] {
  return tokens.flatMap((token): Run[] => {
    switch (token.type) {
      case "strong":
        return marked(token, "**", theme.bold);
      case "em":
        return marked(token, "*", theme.italic);
      case "del":
        return [{ text: "~~", style }, ...inner(token, theme.dim), { text: "~~", style }];
      case "codespan": {
        const { text } = token as Tokens.Codespan;
        return [{ text: theme.name === "none" ? `\`${text}\`` : text, style: inside(style, theme.code) }];
      }
      case "link":
        return linkRuns(token as Tokens.Link);
      case "image": {
        const { text, href } = token as Tokens.Image;
        return linkRuns({ href, tokens: [{ type: "text", raw: text, text: text || "image" }] });
      }
      case "br":
        return [{ text: "\n" }];
      case "html":
        return [/^<br *\/?>$/i.test(token.raw) ? { text: "\n" } : { text: token.raw, style }];
      case "checkbox":
        return [];
      case "escape":
        return [{ text: (token as Tokens.Escape).text, style }];
      default:
        return "tokens" in token && token.tokens !== undefined
          ? inlineRuns(token.tokens, theme, style)
          : [{ text: plainText(token), style }];
    }
  });

  function inner({ tokens: children = [] }: { tokens?: Token[] }, own: Style): Run[] {
    return inlineRuns(children, theme, inside(style, own));
  }

  /** Keeps the marks where the terminal has no such style. */
  function marked(token: { tokens?: Token[] }, mark: string, own: Style): Run[] {
    if (own("x") !== "x") return inner(token, own);
    return [{ text: mark, style }, ...inner(token, own), { text: mark, style }];
  }

  function linkRuns({ href, tokens: children }: Pick<Tokens.Link, "href" | "tokens">): Run[] {
    const runs = inlineRuns(
      children,
      theme,
      inside(style, (text) => theme.link(theme.underline(text), href)),
    );
    const isAddress = runs.map(({ text }) => text).join("") === href.replace(/^mailto:/, "");
    // The address is readable where the terminal cannot open the link.
    return isAddress || theme.link("x", href) !== "x"
      ? runs
      : [...runs, { text: ` (${href})`, style: inside(style, theme.dim) }];
  }
}

function inside(outer: Style | undefined, own: Style): Style {
  return outer === undefined ? own : (text) => outer(own(text));
}

function plainText(token: Token): string {
  const text = token.type === "text" ? (token as Tokens.Text).text : token.raw;
  const lines = text.includes("\n") ? text.replaceAll(/ *\n */g, "\n") : text;
  return lines.includes("&") ? lines.replaceAll(htmlEntity, (entity) => entities[entity] ?? entity) : lines;
}
