import * as unicode11 from "@xterm/addon-unicode11";
import * as xterm from "@xterm/headless";

export interface Attributes {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  /** The number of a palette colour, `#rrggbb`, or undefined for the terminal's own. */
  readonly foreground: number | string | undefined;
  readonly background: number | string | undefined;
}

/** One or two columns of the screen. */
export interface Cell {
  readonly text: string;
  readonly width: number;
  readonly attributes: Attributes;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface EmulatorOptions extends Partial<Size> {
  /** The rows above the screen that are kept. */
  readonly scrollback?: number;
  /** The colour of the background, `rgb:ffff/ffff/ffff`; without one, the terminal does not answer questions about it. */
  readonly background?: string | undefined;
}

/** The private mode that shows the cursor. */
const cursorMode = 25;

/** A terminal that draws into memory: what a person would see. */
export class Emulator {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  /** All that was written to it. */
  received = "";
  #isCursorShown = true;

  constructor({ columns = 80, rows = 24, scrollback = 1_000, background }: EmulatorOptions = {}) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback });
    this.#terminal.loadAddon(new unicode11.Unicode11Addon());
    this.#terminal.unicode.activeVersion = "11";
    for (const final of ["h", "l"]) {
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
        if (parameters.includes(cursorMode)) this.#isCursorShown = final === "h";
        return false;
      });
    }
    this.#terminal.parser.registerOscHandler(11, (question) => {
      if (question === "?" && background !== undefined) this.#terminal.input(`\u001b]11;${background}\u001b\\`, false);
      return true;
    });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  /** Resolves when the text is on the screen. */
  write(text: string): Promise<void> {
    this.received += text;
    return new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  /** Answers of the terminal to questions of the program. */
  onAnswer(listener: (text: string) => void): void {
    this.#terminal.onData(listener);
  }

  resize({ columns, rows }: Partial<Size>): void {
    this.#terminal.resize(columns ?? this.columns, rows ?? this.rows);
  }

  /** The visible rows, without empty ones at the end. */
  screen(): string[] {
    const { viewportY } = this.#terminal.buffer.active;
    return trimmed(this.#rowsFrom(viewportY, viewportY + this.rows));
  }

  /** The rows of the scrollback and the screen. */
  transcript(): string[] {
    return trimmed(this.#rowsFrom(0, this.#terminal.buffer.active.length));
  }

  /** The place of the cursor on the visible screen. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  get isCursorShown(): boolean {
    return this.#isCursorShown;
  }

  /** The visible screen, cell by cell. */
  cells(): Cell[][] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.rows }, (_row, index) => {
      const line = active.getLine(active.viewportY + index);
      return Array.from({ length: this.columns }, (_cell, column) => line?.getCell(column)).flatMap((cell) => {
        // The second half of a wide character has no width of its own.
        if (cell === undefined || cell.getWidth() === 0) return [];
        return [{ text: cell.getChars() || " ", width: cell.getWidth(), attributes: attributesOf(cell) }];
      });
    });
  }

  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  get modes(): { readonly bracketedPaste: boolean; readonly focusReports: boolean; readonly wraps: boolean } {
    const { bracketedPasteMode, sendFocusMode, wraparoundMode } = this.#terminal.modes;
    return { bracketedPaste: bracketedPasteMode, focusReports: sendFocusMode, wraps: wraparoundMode };
  }

  /** The attributes of the first character of the text's first occurrence on the visible screen. */
  attributesOf(text: string): Attributes {
    const { viewportY } = this.#terminal.buffer.active;
    const row = this.screen().findIndex((line) => line.includes(text));
    if (row === -1) throw new Error(`${JSON.stringify(text)} is not on the screen:\n${this.screen().join("\n")}`);
    return attributesOf(this.#cellAt(viewportY + row, text));
  }

  #cellAt(row: number, text: string): xterm.IBufferCell {
    const line = this.#terminal.buffer.active.getLine(row);
    for (let column = 0; column < this.columns; column += 1) {
      const cell = line?.getCell(column);
      if (cell !== undefined && line?.translateToString(true, column).startsWith(text) === true) return cell;
    }
    throw new Error(`${JSON.stringify(text)} does not start in a cell`);
  }

  #rowsFrom(start: number, end: number): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: end - start },
      (_row, index) => active.getLine(start + index)?.translateToString(true) ?? "",
    );
  }
}

export function attributesOf(cell: xterm.IBufferCell): Attributes {
  return {
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    inverse: cell.isInverse() !== 0,
    foreground: color(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()),
    background: color(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()),
  };
}

function color(isDefault: boolean, isRgb: boolean, value: number): number | string | undefined {
  if (isDefault) return undefined;
  return isRgb ? `#${value.toString(16).padStart(6, "0")}` : value;
}

function trimmed(rows: readonly string[]): string[] {
  const last = rows.findLastIndex((row) => row.trim() !== "");
  return rows.slice(0, last + 1).map((row) => row.trimEnd());
}
