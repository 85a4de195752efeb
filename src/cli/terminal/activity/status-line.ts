import type { Terminal } from "../terminal.js";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;
/** A frame and the space behind it. */
const frameCells = 2;

/**
 * A moving line on stderr that says what cody is waiting for. It takes one row of a terminal and is erased before
 * anything else is written; where there is no such terminal nothing is shown.
 */
export class StatusLine {
  readonly #terminal: Terminal;
  #timer: NodeJS.Timeout | undefined;
  #isDrawn = false;
  #isWriting = false;
  #frame = -1;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Shows the text from now on, or after a wait. Resolves with false if there is no terminal to show it on. */
  async show(text: () => string, afterMs = 0): Promise<boolean> {
    await this.clear();
    if (!this.#fits(text())) return false;
    const draw = (): void => {
      this.#timer = setTimeout(draw, frameMs).unref();
      this.#draw(text());
    };
    if (afterMs === 0) draw();
    else this.#timer = setTimeout(draw, afterMs).unref();
    return true;
  }

  async clear(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    await this.#terminal.stderr.eraseLine();
  }

  /** In one piece, so that nothing else is written between two parts of it. A terminal that is stopped gets no more. */
  #draw(text: string): void {
    // The terminal may have become narrower.
    if (this.#isWriting || !this.#fits(text)) return;
    const { stderr } = this.#terminal;
    if (this.#isDrawn) void stderr.eraseLine();
    this.#frame = (this.#frame + 1) % frames.length;
    this.#isDrawn = true;
    this.#isWriting = true;
    void stderr.write(`${frames[this.#frame]} ${text}`).then(this.#onWritten);
  }

  readonly #onWritten = (): void => void (this.#isWriting = false);

  /** What takes more than one row cannot be erased. */
  #fits(text: string): boolean {
    const { stderr, env } = this.#terminal;
    const { isTTY, columns = 0 } = stderr;
    return isTTY && env["TERM"] !== "dumb" && text.length + frameCells < columns;
  }
}
