import { cellWidth, cutToCells, hasUncertainWidth, rowsOf } from "./cells.js";

/** The part of the screen that changes: the lines at the bottom, and where the cursor is in them. */
export interface LiveRegion {
  readonly lines: readonly string[];
  /** Without one the cursor is hidden. */
  readonly cursor?: Position | undefined;
}

interface Position {
  readonly row: number;
  readonly column: number;
}

/** The terminal that a painter draws on. */
interface Canvas {
  readonly columns: number;
  readonly rows: number;
  /** How the terminal treats lines that are longer than its new width. */
  readonly reflow: Reflow;
  /**
   * A question that ends each frame while the connection is slow, else empty. The terminal's answers are reported with
   * `Painter.confirm`.
   */
  readonly question?: string;
  /** Resolves when the terminal has taken the text; rejects when it is gone. */
  write(text: string): Promise<void>;
}

/**
 * `cut`: it cuts them. `break`: it breaks them, and the cursor stays at its character. `xterm_js`: it breaks them,
 * except the line with the cursor, and moves the cursor down by all rows that were added, also by those below it.
 */
export type Reflow = "cut" | "break" | "xterm_js";

const usualFrameMs = 16;
/** After this time, and with more open questions than these, no answers can be expected. */
const [answerMs, maxUnconfirmed] = [2_000, 256];
/** The most characters of final lines in one frame, so that a long transcript does not delay the keyboard. */
const maxFrameChars = 262_144;
/** The most characters of final lines that wait for a slow terminal. */
export const maxWaitingChars = 8_388_608;

const [startFrame, endFrame] = ["\u001b[?2026h\u001b[?25l", "\u001b[?2026l"];
const showCursor = "\u001b[?25h";
const [eraseLine, eraseBelow] = ["\u001b[2K", "\u001b[J"];
const [wrapOff, wrapOn] = ["\u001b[?7l", "\u001b[?7h"];
const [enterAlternate, leaveAlternate] = ["\u001b[?1049h", "\u001b[?1049l"];
const newLine = "\r\n";
const endLink = "\u001b]8;;\u001b\\";

/** The lines on the screen. The cursor is where the terminal has it, visible or not. */
interface Painted {
  readonly lines: readonly string[];
  readonly columns: number;
  readonly rows: number;
  readonly cursor: Position;
  readonly isCursorShown: boolean;
}

/** A frame that the terminal has not confirmed. */
interface Sent {
  /** Undefined if it has only asked. */
  readonly painted: Painted | undefined;
  readonly finals: readonly string[];
}

/**
 * The screen of a slow terminal at its last answer. Between a resize of the terminal and the program's knowledge of it,
 * frames for the old size arrive: they begin too far down, so that broken rows stay above what they draw.
 */
interface Confirmed {
  readonly painted: Painted;
  /** The broken rows. */
  readonly broken: number;
  /** Final lines below the broken rows. */
  readonly finals: readonly string[];
}

/** Rows on the alternate screen. */
interface Alternate {
  readonly rows: () => readonly string[];
  /** Undefined if the next frame must draw all of them. */
  painted: readonly string[] | undefined;
}

/**
 * Draws a transcript that only grows, and a live region below it. Final lines are written once and belong to the
 * terminal. The live region is redrawn row by row where it changed, at most once per frame, in one write; while the
 * terminal is still reading a frame, later ones are skipped.
 */
export class Painter {
  readonly #canvas: Canvas;
  readonly #frameMs: number;
  #live: () => LiveRegion = () => ({ lines: [] });
  #waiting: string[] = [];
  #waitingChars = 0;
  #droppedLines = 0;
  #painted: Painted | undefined;
  #confirmed: Confirmed | undefined;
  #unconfirmed: Sent[] = [];
  /** The size has changed, and frames for the old one may still be on their way. */
  #isUnsettled = false;
  /** xterm.js moves the cursor in its own way at each of several steps. Broken lines are better than lost ones. */
  #isUncertain = false;
  /** Also if the size is again what it was: the terminal may have broken lines meanwhile. */
  #isResized = false;
  #giveUp: NodeJS.Timeout | undefined;
  #alternate: Alternate | undefined;
  /** The terminal shows its alternate screen. */
  #isAway = false;
  #isWriting = false;
  #isDue = false;
  /** The next frame does not wait for its time. */
  #isUrgent = false;
  #isPaused = false;
  #isGone = false;
  #isVisible = false;
  #lastFrame = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #onFlushed: (() => void)[] = [];

  constructor(canvas: Canvas, { frameMs = usualFrameMs }: { readonly frameMs?: number } = {}) {
    this.#canvas = canvas;
    this.#frameMs = frameMs;
  }

  /** Adds final lines to the transcript. */
  print(lines: readonly string[]): void {
    if (this.#isGone) return;
    for (const line of lines) {
      this.#waiting.push(line);
      this.#waitingChars += line.length + newLine.length;
    }
    if (this.#waitingChars > maxWaitingChars) this.#dropOldest();
    this.#request();
  }

  /** Sets the live region. The function is called when a frame is drawn, and again after a resize. */
  show(live: () => LiveRegion): void {
    this.#live = live;
    this.#isVisible = true;
    this.#request();
  }

  /** Draws the live region again, because what it shows has changed. */
  refresh(): void {
    this.#request();
  }

  /** Like `refresh`, without waiting for the time of the next frame: a person has pressed a key and looks for its effect. */
  refreshNow(): void {
    this.#isUrgent = true;
    this.#request();
  }

  /** Resolves when everything so far is on the screen, or cannot get there. */
  async flushed(): Promise<void> {
    if (this.#isGone || (!this.#isDue && !this.#isWriting)) return;
    await new Promise<void>((resolve) => void this.#onFlushed.push(resolve));
  }

  /** Shows rows on the alternate screen; final lines wait until it is closed. */
  openAlternate(rows: () => readonly string[]): void {
    this.#alternate = { rows, painted: undefined };
    this.#request();
  }

  closeAlternate(): void {
    this.#alternate = undefined;
    this.#request();
  }

  /**
   * The size changed. The region is redrawn as a whole: the terminal may have broken its lines, or removed those below
   * the cursor.
   */
  resized(): void {
    this.#isResized = true;
    if (this.#alternate !== undefined) this.#alternate.painted = undefined;
    if ((this.#canvas.question ?? "") !== "" && !this.#isPaused && !this.#isAway) this.#askAfterResize();
    this.#request();
  }

  /** The terminal has answered a question: it has drawn the frame, before it was resized again. */
  confirm(): void {
    const sent = this.#unconfirmed.shift();
    if (sent?.painted !== undefined) this.#noteDrawn(sent.painted, sent.finals);
    if (this.#unconfirmed.length > 0 || !this.#isUnsettled) return;
    this.#settle();
    this.#request();
  }

  /**
   * Stops drawing and returns what removes the live region from the screen. The next frame starts at the cursor,
   * wherever that is then.
   */
  pause(): string {
    this.#isPaused = true;
    const erase = this.#painted === undefined ? "" : this.#eraseRegion(this.#painted);
    const leave = this.#leaveAlternate();
    this.#forgetRegion();
    if (this.#alternate !== undefined) this.#alternate.painted = undefined;
    return leave + erase;
  }

  resume(): void {
    this.#isPaused = false;
    this.#forgetRegion();
    this.#request();
  }

  /** Draws the last frame, without the live region. */
  async close(): Promise<void> {
    this.#alternate = undefined;
    this.#isVisible = false;
    this.#request();
    this.#settle();
    await this.flushed();
    this.#cancel?.();
  }

  /**
   * Drawing waits until the terminal has answered, because only then nothing for the old size is on its way, and a
   * window is often resized in many steps.
   */
  #askAfterResize(): void {
    if (this.#isUnsettled && this.#canvas.reflow === "xterm_js") this.#isUncertain = true;
    this.#isUnsettled = true;
    this.#unconfirmed.push({ painted: undefined, finals: [] });
    clearTimeout(this.#giveUp);
    this.#giveUp = setTimeout(() => this.#stopWaiting(), answerMs).unref();
    void this.#canvas.write(this.#canvas.question ?? "").catch(() => undefined);
  }

  #stopWaiting(): void {
    for (const { painted, finals } of this.#unconfirmed.splice(0))
      if (painted !== undefined) this.#noteDrawn(painted, finals);
    this.#settle();
    this.#request();
  }

  #settle(): void {
    this.#isUnsettled = false;
    clearTimeout(this.#giveUp);
  }

  #forgetRegion(): void {
    this.#painted = undefined;
    this.#confirmed = undefined;
    this.#unconfirmed = this.#unconfirmed.map(() => ({ painted: undefined, finals: [] }));
  }

  /** The terminal has drawn the frame at its present size. */
  #noteDrawn(painted: Painted, finals: readonly string[]): void {
    const { columns, rows } = this.#canvas;
    const broken = this.#brokenRows();
    const lost = broken === 0 ? [] : [...(this.#confirmed?.finals ?? []), ...finals];
    const isOld = painted.columns > columns;
    const drawn = isOld
      ? { ...painted, lines: painted.lines.map((line) => cutLine(line, columns)), columns, rows }
      : painted;
    this.#confirmed = { painted: drawn, broken, finals: lost };
  }

  /** The rows above those that a frame for the old size redraws. */
  #brokenRows(): number {
    if (this.#confirmed === undefined) return 0;
    const { painted, broken } = this.#confirmed;
    if (this.#isUncertain) return 0;
    return broken + rowsToTop(painted, this.#canvas) - painted.cursor.row;
  }

  /** From the cursor to the top of the region and of what is broken, and the final lines that are erased with it. */
  #eraseRegion(painted: Painted): string {
    const confirmed = this.#confirmed;
    if (this.#isUncertain) {
      this.#isUncertain = false;
      return `${vertical(-painted.cursor.row)}\r${eraseBelow}`;
    }
    if (confirmed === undefined || this.#unconfirmed.length > 0) return toTop(painted, this.#canvas) + eraseBelow;
    const { columns } = this.#canvas;
    const finalRows = confirmed.finals.map((line) => rowsOf(line, columns)).reduce(sum, 0);
    const up = rowsToTop(confirmed.painted, this.#canvas) + confirmed.broken + finalRows;
    const finals = confirmed.finals.map((line) => ended(line) + newLine).join("");
    this.#confirmed = { painted: { ...painted, columns }, broken: 0, finals: [] };
    return `${vertical(-up)}\r${eraseBelow}${finals}`;
  }

  /** Remembers a frame until the terminal confirms it; without a question it is taken for drawn. */
  #noteSent(painted: Painted, finals: readonly string[]): string {
    const question = this.#canvas.question ?? "";
    if (question === "" || this.#unconfirmed.length >= maxUnconfirmed) {
      this.#unconfirmed = [];
      this.#confirmed = { painted, broken: 0, finals: [] };
      return "";
    }
    this.#unconfirmed.push({ painted, finals });
    return question;
  }

  #request(): void {
    this.#isDue = true;
    if (this.#isWriting || this.#isPaused || this.#isGone) return;
    if (this.#cancel !== undefined && !this.#isUrgent) return;
    this.#cancel?.();
    const delay = this.#isUrgent ? 0 : this.#lastFrame + this.#frameMs - performance.now();
    const draw = (): void => {
      this.#cancel = undefined;
      void this.#drawFrame();
    };
    if (delay <= 0) {
      const immediate = setImmediate(draw);
      this.#cancel = () => clearImmediate(immediate);
    } else {
      const timer = setTimeout(draw, delay);
      this.#cancel = () => clearTimeout(timer);
    }
  }

  async #drawFrame(): Promise<void> {
    if (this.#isPaused || (this.#isUnsettled && this.#alternate === undefined)) return;
    this.#isDue = false;
    this.#isUrgent = false;
    this.#lastFrame = performance.now();
    const frame =
      this.#alternate === undefined
        ? this.#leaveAlternate() + this.#mainFrame()
        : this.#alternateFrame(this.#alternate);
    if (frame !== "") await this.#write(startFrame + frame + endFrame);
    const hasMore = this.#waiting.length > 0 && this.#alternate === undefined;
    if ((this.#isDue || hasMore) && !this.#isGone) return this.#request();
    for (const resolve of this.#onFlushed.splice(0)) resolve();
  }

  /** One write at a time: what a slow terminal has not read yet is bounded by one frame. */
  async #write(text: string): Promise<void> {
    this.#isWriting = true;
    try {
      await this.#canvas.write(text);
    } catch {
      this.#isGone = true;
      this.#waiting = [];
      for (const resolve of this.#onFlushed.splice(0)) resolve();
    } finally {
      this.#isWriting = false;
    }
  }

  #leaveAlternate(): string {
    if (!this.#isAway) return "";
    this.#isAway = false;
    // Frames hide the cursor.
    if (this.#painted !== undefined) this.#painted = { ...this.#painted, isCursorShown: false };
    return leaveAlternate;
  }

  #mainFrame(): string {
    const { columns, rows } = this.#canvas;
    const finalLines = this.#takeFinals();
    const finals = finalLines.map((line) => ended(line) + newLine).join("");
    const before = this.#painted;
    if (!this.#isVisible) {
      const erase = before === undefined ? "" : this.#eraseRegion(before);
      this.#forgetRegion();
      return erase + finals + showCursor;
    }
    const live = fitted(this.#live(), columns, rows);
    const lines = live.lines.map((line, row) =>
      before?.columns === columns && before.lines[row] === line ? line : cutLine(line, columns),
    );
    const cursor = live.cursor ?? { row: lines.length - 1, column: 0 };
    const isCursorShown = live.cursor !== undefined;
    this.#painted = { lines, columns, rows, cursor, isCursorShown };
    const isSlow = (this.#canvas.question ?? "") !== "";
    const isResized = this.#isResized || before?.columns !== columns || before.rows !== rows;
    this.#isResized = false;
    const isAnew = before === undefined || finals !== "" || isResized;
    const drawn = isAnew
      ? (before === undefined ? `\r${eraseBelow}` : this.#eraseRegion(before)) + finals + wholeRegion(lines, isSlow)
      : changedRows(before, lines, isSlow);
    const row = isAnew ? lines.length - 1 : drawn === "" ? before.cursor.row : lastRow(before, lines);
    const isPlaced = row === cursor.row && before?.cursor.column === cursor.column;
    if (drawn === "" && isPlaced && before.isCursorShown === isCursorShown) return "";
    const question = this.#noteSent(this.#painted, finalLines);
    return drawn + vertical(cursor.row - row) + toColumn(cursor.column) + (isCursorShown ? showCursor : "") + question;
  }

  #takeFinals(): string[] {
    const taken =
      this.#droppedLines > 0 ? [`[${this.#droppedLines} lines are not shown: the terminal reads too slowly]`] : [];
    this.#droppedLines = 0;
    let count = 0;
    let chars = 0;
    while (count < this.#waiting.length && chars < maxFrameChars) {
      const line = this.#waiting[count] ?? "";
      taken.push(line);
      chars += line.length + newLine.length;
      count += 1;
    }
    this.#waitingChars -= chars;
    this.#waiting = count === this.#waiting.length ? [] : this.#waiting.slice(count);
    return taken;
  }

  #dropOldest(): void {
    let count = 0;
    // Half of them, so that this is rare.
    while (this.#waitingChars > maxWaitingChars / 2) {
      this.#waitingChars -= (this.#waiting[count] ?? "").length + newLine.length;
      count += 1;
    }
    this.#waiting = this.#waiting.slice(count);
    this.#droppedLines += count;
  }

  #alternateFrame(alternate: Alternate): string {
    const { columns, rows } = this.#canvas;
    const before = alternate.painted;
    const lines = alternate
      .rows()
      .slice(0, rows)
      .map((line) => cutLine(line, columns));
    alternate.painted = lines;
    const count = Math.max(lines.length, before?.length ?? 0);
    let drawn = this.#isAway ? "" : enterAlternate;
    this.#isAway = true;
    if (before === undefined) drawn += `\u001b[H${eraseBelow}`;
    for (let row = 0; row < count; row += 1) {
      if (before?.[row] !== lines[row]) drawn += `\u001b[${row + 1};1H${eraseLine}${regionLine(lines[row] ?? "")}`;
    }
    return drawn;
  }
}

/** At most one row less than the screen has, around the cursor, so that the top of the region stays reachable. */
function fitted(live: LiveRegion, columns: number, rows: number): LiveRegion {
  const { cursor } = live;
  const lines = live.lines.length === 0 ? [""] : live.lines;
  const most = Math.max(1, rows - 1);
  const last = Math.max(0, lines.length - most);
  const row = Math.min(cursor?.row ?? lines.length - 1, lines.length - 1);
  const start = Math.min(last, row);
  const column = Math.min(cursor?.column ?? 0, columns - 1);
  return { lines: lines.slice(start, start + most), cursor: cursor && { row: row - start, column } };
}

function cutLine(line: string, columns: number): string {
  return cellWidth(line) > columns ? cutToCells(line, columns) : line;
}

/** From the cursor to the first row of the region, after whatever a resize did to its lines. */
function toTop(painted: Painted, canvas: Canvas): string {
  return `${vertical(-rowsToTop(painted, canvas))}\r`;
}

function rowsToTop(painted: Painted, { columns, rows, reflow }: Canvas): number {
  const { lines, cursor } = painted;
  if (columns >= painted.columns || reflow === "cut") return cursor.row;
  const added = lines.map((line) => rowsOf(line, columns) - 1);
  const above = added.slice(0, cursor.row).reduce(sum, cursor.row);
  if (reflow === "xterm_js") {
    // A shorter screen loses its last rows first. Too few rows up leaves a broken line, too many erase the transcript.
    const end = lines.length - Math.max(0, painted.rows - rows);
    return added.slice(cursor.row + 1, Math.max(cursor.row + 1, end)).reduce(sum, above);
  }
  return above + Math.floor(Math.max(0, cursor.column - 1) / columns);
}

function sum(total: number, count: number): number {
  return total + count;
}

function wholeRegion(lines: readonly string[], isSlow: boolean): string {
  return lines.map((line) => regionLine(line, isSlow)).join(newLine);
}

/** Rewrites the rows that differ. Ends in the row that `lastRow` returns. */
function changedRows(before: Painted, lines: readonly string[], isSlow: boolean): string {
  let row = before.cursor.row;
  let rows = before.lines.length;
  let drawn = "";
  const go = (target: number): void => {
    // A row that does not exist yet is made by a line break, which scrolls if need be.
    const isNew = target === rows;
    drawn += vertical((isNew ? rows - 1 : target) - row) + (isNew ? newLine : "\r");
    if (isNew) rows += 1;
    row = target;
  };
  for (const [index, line] of lines.entries()) {
    if (before.lines[index] === line) continue;
    go(index);
    drawn += eraseLine + regionLine(line, isSlow);
  }
  if (lines.length < before.lines.length) {
    go(lines.length);
    drawn += eraseBelow;
  }
  return drawn;
}

function lastRow(before: Painted, lines: readonly string[]): number {
  if (lines.length < before.lines.length) return lines.length;
  return lines.findLastIndex((line, index) => before.lines[index] !== line);
}

/**
 * Lines of the region must not wrap, also where the terminal draws a cluster wider than expected, or is narrower when
 * a slow connection delivers them.
 */
function regionLine(line: string, isSlow = false): string {
  const text = ended(line);
  return isSlow || hasUncertainWidth(line) ? wrapOff + text + wrapOn : text;
}

/** Styles and links end with their line. */
function ended(line: string): string {
  if (!line.includes("\u001b")) return line;
  return `${line}\u001b[0m${line.includes("\u001b]8;") ? endLink : ""}`;
}

function vertical(rows: number): string {
  if (rows === 0) return "";
  return rows < 0 ? `\u001b[${-rows}A` : `\u001b[${rows}B`;
}

function toColumn(column: number): string {
  return column === 0 ? "\r" : `\r\u001b[${column}C`;
}
