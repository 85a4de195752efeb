import type { Terminal } from "../terminal.js";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;
/** The width of a frame and the space after it. */
const frameCells = 2;

/**
 * An animated line on stderr that says what cody is waiting for. It takes one terminal row and is erased before
 * anything else is written. Without a suitable terminal nothing is shown.
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

  /** Shows the text now, or after a delay. Resolves with false if there is no terminal to show it on. */
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

  /** Writes the line in one call, so that no other output comes between its parts. Skips a terminal that is stopped. */
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

  /** A text that takes more than one row could not be erased. */
  #fits(text: string): boolean {
    const { stderr, env } = this.#terminal;
    const { isTTY, columns = 0 } = stderr;
    return isTTY && env["TERM"] !== "dumb" && text.length + frameCells < columns;
  }
}
