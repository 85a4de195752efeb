import { requestLanguage } from "./highlight.js";

/** A piece of Markdown that can be drawn without knowing what follows. */
export type Block = TextBlock | CodeBlock;

interface BlockFacts {
  /** The cells before it, in a list item. */
  readonly indent: number;
  /** An empty line comes before it. */
  readonly gap: boolean;
}

/** Markdown without fenced code of its own. */
export interface TextBlock extends BlockFacts {
  readonly type: "text";
  readonly source: string;
  /** The number of an ordered list's item. */
  readonly number?: number | undefined;
}

interface CodeBlock extends BlockFacts {
  readonly type: "code";
  readonly lines: readonly string[];
  /** The text after the opening fence. */
  readonly info: string;
}

/** Longer blocks are finished in parts. Code is cut between two statements, if that is possible before `maxLines`. */
const goodLines = 30;
const maxLines = 60;
const maxChars = 4_096;
/** Longer tables are drawn as several, each with the header. */
const maxTableLines = 60;

const item = /^( *)([-*+]|\d{1,9}[.)])( +(?=\S)| *$)/;
const openingFence = /^( *)(`{3,}|~{3,})(.*)$/;
const heading = /^ {0,3}#{1,6}(?: |$)/;
const rule = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const quote = /^ {0,3}>/;
const delimiterRow = /^ {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$|^ {0,3}\| *:?-+:? *$/;

type Kind = "paragraph" | "quote" | "table" | "item" | "indented" | "code";

interface Open {
  readonly kind: Kind;
  readonly lines: string[];
  chars: number;
  readonly indent: number;
  readonly gap: boolean;
  readonly number?: number | undefined;
  readonly info?: string;
}

interface Fence {
  readonly mark: string;
  readonly indent: number;
}

interface List {
  /** The column of the marker. */
  readonly base: number;
  /** The column of the text after it. */
  readonly offset: number;
  readonly isOrdered: boolean;
  readonly number: number;
}

/**
 * Cuts Markdown into blocks, line by line. A list is cut into its items, and fenced code in an item is a block of its
 * own.
 */
export class BlockScanner {
  #finished: Block[] = [];
  #open: Open | undefined;
  #fence: Fence | undefined;
  #list: List | undefined;
  /** The lines since the last text are empty. */
  #isBlank = false;
  #hasText = false;
  /** The kind of the block that was cut because it is long, as long as it may continue. */
  #cut: Kind | undefined;

  /** The finished blocks since the last call. */
  take(): Block[] {
    const blocks = this.#finished;
    this.#finished = [];
    return blocks;
  }

  /** A scanner that continues as this one does, with about the last lines of the open block and no finished ones. */
  copyOfOpen(lines: number): BlockScanner {
    const copy = new BlockScanner();
    copy.#open = this.#open && { ...this.#open, lines: lastLines(this.#open, lines) };
    copy.#fence = this.#fence;
    copy.#list = this.#list;
    copy.#isBlank = this.#isBlank;
    copy.#hasText = this.#hasText;
    copy.#cut = this.#cut;
    return copy;
  }

  /** Adds a line without control characters. */
  line(line: string): void {
    if (this.#fence !== undefined) this.#codeLine(line, this.#fence);
    else if (line.trim() === "") this.#blankLine();
    else {
      if (this.#list === undefined || !this.#listLine(line, this.#list)) this.#topLine(line);
      this.#isBlank = false;
    }
  }

  /** Ends the last block. */
  finish(): void {
    const open = this.#open;
    this.#open = undefined;
    this.#fence = undefined;
    if (open === undefined) return;
    this.#cut = undefined;
    const { kind, lines, indent, gap, number, info = "" } = open;
    if (kind === "code") this.#finished.push({ type: "code", lines, indent, gap, info });
    else this.#finished.push({ type: "text", source: lines.join("\n"), indent, gap, number });
  }

  #codeLine(line: string, { mark, indent }: Fence): void {
    const text = line.trim();
    const spaces = indentOf(line);
    if (text.startsWith(mark) && text === mark.charAt(0).repeat(text.length) && spaces < indent + 4) {
      this.finish();
      this.#isBlank = false;
      return;
    }
    const open = this.#open;
    const shown = line.slice(Math.min(spaces, indent));
    if (open === undefined) return;
    const last = open.lines.at(-1);
    const isGoodCut = open.lines.length >= goodLines && last === "" && shown !== "" && indentOf(shown) === 0;
    if (isGoodCut || isLong(open, shown)) {
      const fence = this.#fence;
      this.finish();
      this.#fence = fence;
      this.#begin({ ...open, lines: [], chars: 0, gap: false });
    }
    this.#add(shown);
  }

  #blankLine(): void {
    this.#isBlank = true;
    const kind = this.#open?.kind;
    if (kind === "item" || kind === "indented") this.#add("");
    else this.finish();
    if (this.#cut !== "item") this.#cut = undefined;
  }

  /** Returns false if the line ends the list. */
  #listLine(line: string, list: List): boolean {
    const indent = indentOf(line);
    const text = line.trimStart();
    if (indent >= list.base + 2) {
      const depth = Math.max(list.offset, indent) - list.offset;
      const fence = openingFence.exec(line);
      if (fence !== null && isFence(fence)) {
        this.#openCode(fence, list.offset + depth, this.#isBlank);
        return true;
      }
      if (this.#open?.kind === "item" && isLong(this.#open, line)) this.#cutOpen();
      if (this.#open === undefined) {
        this.#begin({ kind: "item", lines: [], chars: 0, indent: list.offset, gap: this.#isBlank && this.#hasText });
      }
      const isContinued = this.#open?.indent !== 0;
      this.#add(" ".repeat(isContinued ? depth : list.offset - list.base + depth) + text);
      return true;
    }
    const marker = item.exec(line);
    if (marker !== null && !rule.test(line)) {
      this.#openItem(line, marker, list);
      return true;
    }
    const isLazy = !this.#isBlank && this.#open?.kind === "item" && !startsBlock(line);
    if (isLazy) {
      this.#add(line.trimStart());
      return true;
    }
    this.finish();
    this.#list = undefined;
    this.#cut = undefined;
    return false;
  }

  #topLine(line: string): void {
    const open = this.#open;
    const fence = openingFence.exec(line);
    const marker = item.exec(line);
    if (open?.kind === "indented" && indentOf(line) >= 4) return this.#add(line);
    if (open === undefined && indentOf(line) >= 4 && this.#cut === undefined) return this.#start("indented", line);
    if (fence !== null && isFence(fence)) return this.#openCode(fence, 0, true);
    if (rule.test(line) && !(open?.kind === "paragraph" && /^[ -]+$/.test(line) && !line.trim().includes(" "))) {
      return this.#single(line);
    }
    if (heading.test(line)) return this.#single(line);
    if (marker !== null && (open?.kind !== "paragraph" || mayInterrupt(marker))) {
      return this.#openItem(line, marker, undefined);
    }
    if (quote.test(line)) return open?.kind === "quote" ? this.#append(line) : this.#start("quote", line);
    if (open?.kind === "indented") return this.#start("paragraph", line);
    const last = open?.lines.at(-1);
    if (open?.kind === "paragraph" && last?.includes("|") === true && delimiterRow.test(line)) {
      return this.#openTable(last, line);
    }
    if (open !== undefined) return this.#append(line);
    return this.#start(this.#cut === "quote" ? "quote" : "paragraph", line);
  }

  /** The last line of the paragraph is the header of a table. */
  #openTable(header: string, delimiters: string): void {
    const paragraph = this.#open;
    const gap = paragraph?.gap ?? false;
    const isAlone = paragraph?.lines.length === 1;
    paragraph?.lines.pop();
    if (isAlone) this.#open = undefined;
    else this.finish();
    this.#begin({ kind: "table", lines: [], chars: 0, indent: 0, gap: isAlone ? gap : this.#hasText });
    this.#add(header);
    this.#add(delimiters);
  }

  #openItem(line: string, [all, spaces = "", mark = "", after = ""]: RegExpExecArray, list: List | undefined): void {
    const hasText = this.#hasText;
    this.finish();
    this.#cut = undefined;
    const base = spaces.length;
    const isOrdered = /\d/.test(mark);
    const isSame = list !== undefined && list.isOrdered === isOrdered;
    const number = isSame ? list.number + 1 : isOrdered ? Number.parseInt(mark, 10) : 0;
    // After five spaces or more, the item begins with indented code.
    const offset = after.length > 4 || all.length === line.length ? base + mark.length + 1 : all.length;
    this.#list = { base, offset, isOrdered, number };
    const gap = hasText && (!isSame || this.#isBlank);
    this.#begin({ kind: "item", lines: [], chars: 0, indent: 0, gap, number: isOrdered ? number : undefined });
    const rest = line.slice(base);
    const fence = openingFence.exec(line.slice(all.length));
    if (fence === null || !isFence(fence)) return this.#add(rest);
    this.#add(mark);
    this.#openCode(fence, offset, false);
  }

  #openCode([, spaces = "", mark = "", info = ""]: RegExpExecArray, indent: number, gap: boolean): void {
    this.finish();
    this.#cut = undefined;
    requestLanguage(info);
    this.#fence = { mark, indent: this.#list === undefined ? spaces.length : indent };
    this.#begin({ kind: "code", lines: [], chars: 0, indent, gap: gap && this.#hasText, info });
  }

  /** A block of one line. */
  #single(line: string): void {
    this.#start("paragraph", line);
    this.finish();
  }

  #start(kind: Kind, line: string): void {
    const isContinued = this.#cut === kind && !this.#isBlank && this.#open === undefined;
    this.finish();
    this.#cut = undefined;
    this.#begin({ kind, lines: [], chars: 0, indent: 0, gap: this.#hasText && !isContinued });
    this.#add(line);
  }

  #append(line: string): void {
    const open = this.#open;
    if (open === undefined) return;
    const isFull = open.kind === "table" ? open.lines.length >= maxTableLines : isLong(open, line);
    if (isFull) {
      const head = open.kind === "table" ? open.lines.slice(0, 2) : [];
      this.#cutOpen();
      this.#begin({ ...open, lines: [], chars: 0, gap: open.kind === "table" });
      for (const each of head) this.#add(each);
    }
    this.#add(line);
  }

  #cutOpen(): void {
    const kind = this.#open?.kind;
    this.finish();
    this.#cut = kind;
  }

  #begin(open: Open): void {
    this.#open = open;
    this.#hasText = true;
  }

  #add(line: string): void {
    if (this.#open === undefined) return;
    this.#open.lines.push(line);
    this.#open.chars += line.length + 1;
  }
}

/** The last lines of a block, after the lines that say what it is. */
function lastLines({ kind, lines }: Open, count: number): string[] {
  const head = kind === "table" ? 2 : kind === "item" ? 1 : 0;
  return lines.length <= head + count ? [...lines] : [...lines.slice(0, head), ...lines.slice(-count)];
}

function isLong({ lines, chars }: Open, line: string): boolean {
  return lines.length >= maxLines || (lines.length > 0 && chars + line.length > maxChars);
}

/** The text after backquotes contains none, or they are code in a line. */
function isFence([, , mark = "", info = ""]: RegExpExecArray): boolean {
  return !mark.startsWith("`") || !info.includes("`");
}

/** In a paragraph, a number at the start of a line is no list unless it is 1. */
function mayInterrupt([all, , mark = ""]: RegExpExecArray): boolean {
  return /\s$/.test(all) && (!/\d/.test(mark) || Number.parseInt(mark, 10) === 1);
}

function startsBlock(line: string): boolean {
  const fence = openingFence.exec(line);
  return heading.test(line) || rule.test(line) || quote.test(line) || (fence !== null && isFence(fence));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
