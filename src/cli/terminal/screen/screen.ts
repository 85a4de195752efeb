import { writeSync } from "node:fs";
import type { Input } from "../terminal.js";
import type { OutputStream } from "../output.js";
import type { JobControl } from "./job-control.js";
import type { Key } from "./key.js";
import { type Decoded, KeyDecoder } from "./key-decoder.js";
import { Painter, type Reflow } from "./painter.js";

type TtyInput = Input & { setRawMode?(isRaw: boolean): unknown };
type TtyOutput = OutputStream & { readonly rows?: number; readonly fd?: number };

interface ScreenEvents {
  key(key: Key): void;
  /** `columns` or `rows` changed. */
  resize?(): void;
  /** The terminal reported its background. */
  background?(kind: Background): void;
  focus?(isFocused: boolean): void;
  /** Something a person should know, for example that a paste was cut. */
  notice?(text: string): void;
  /** The terminal is gone. */
  end(): void;
}

interface ScreenOptions {
  readonly input: TtyInput;
  readonly output: TtyOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly job: JobControl;
  readonly events: ScreenEvents;
}

export type Background = "dark" | "light";

/** Turned on at the start; each needs its counterpart in `modesOff`. */
const modesOn = [
  "\u001b[?2004h", // bracketed paste
  "\u001b[?1004h", // focus reports
  "\u001b[>1u", // kitty's keys
  "\u001b[>4;1m", // xterm's modifyOtherKeys, for terminals and tmux versions without kitty's protocol
].join("");
const modesOff = ["\u001b[>4;0m", "\u001b[<u", "\u001b[?1004l", "\u001b[?2004l"].join("");

/** Ends what a frame may have begun. */
const frameOff = "\u001b[?2026l\u001b[0m\u001b[?7h\u001b[?25h";
/** Cancels a sequence of which the terminal got only the start. */
const cancel = "\u0018";

/**
 * Undoes what a program that was killed may have left: the alternate screen, mouse reports, application keys, insert
 * mode, another character set, kitty's keys. Nothing of it moves the cursor or changes what is on the screen.
 */
const resets = [
  "\u001b[?1047l",
  "\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l",
  "\u001b[?1l\u001b>\u001b[4l\u001b(B\u000f",
  "\u001b[=0u",
  frameOff,
].join("");

/** Colour of the background, kitty's keys, and the question that every terminal answers, so that it comes last. */
const lastQuestion = "\u001b[c";
const questions = `\u001b]11;?\u001b\\\u001b[?u${lastQuestion}`;
/** The time for answers: a round trip over a slow connection takes 300 ms and more. */
const answersMs = 1_000;
const closeMs = 500;
const [writeAttempts, writeRetryMs] = [40, 5];
/** From this round trip on, the terminal says what it has drawn. */
const slowMs = 100;
const drawnQuestion = "\u001b[5n";
const usualSize = { columns: 80, rows: 24 };

/** The terminal while cody's interactive screen has it: raw input as keys, modes, size, and the painter. */
export class Screen implements AsyncDisposable {
  readonly painter: Painter;
  /** Resolves when the terminal has answered, or after a second. A later answer is an event. */
  readonly ready: Promise<{ readonly background: Background }>;
  isFocused = true;
  readonly #input: TtyInput;
  readonly #output: TtyOutput;
  readonly #env: ScreenOptions["env"];
  readonly #job: JobControl;
  readonly #events: ScreenEvents;
  readonly #decoder = new KeyDecoder();
  readonly #release: (() => void)[] = [];
  #background: Background = "dark";
  #onAnswered: (() => void)[] = [];
  /** When the oldest unanswered question was sent, and how many are unanswered. */
  #asked = { at: 0, count: 0 };
  #hasKittyKeys = false;
  #isSlow = false;
  #silence: NodeJS.Timeout | undefined;
  #decision: NodeJS.Immediate | undefined;
  #isActive = false;
  #isClosed = false;
  #isGone = false;
  #isLent = false;
  /** The modes are off, and the terminal's last answers are awaited. Keys go nowhere. */
  #isLeaving = false;
  #capture: ((key: Key) => void) | undefined;

  private constructor(options: ScreenOptions) {
    this.#input = options.input;
    this.#output = options.output;
    this.#env = options.env;
    this.#job = options.job;
    this.#events = options.events;
    const reflow = reflowOf(options.env);
    const [columns, rows, isSlow] = [() => this.columns, () => this.rows, () => this.#isSlow];
    this.painter = new Painter({
      get columns() {
        return columns();
      },
      get rows() {
        return rows();
      },
      reflow,
      get question() {
        return isSlow() ? drawnQuestion : "";
      },
      write: (text) => this.#send(text),
    });
    this.ready = new Promise((resolve) => {
      const answered = (): void => resolve({ background: this.#background });
      this.#onAnswered.push(answered);
      const timer = setTimeout(answered, answersMs);
      this.#release.push(() => clearTimeout(timer), answered);
    });
  }

  static open(options: ScreenOptions): Screen {
    const screen = new Screen(options);
    screen.#listen();
    screen.#activate();
    screen.#ask(questions);
    return screen;
  }

  get columns(): number {
    return plausible(this.#output.columns) ?? plausible(Number(this.#env["COLUMNS"])) ?? usualSize.columns;
  }

  get rows(): number {
    return plausible(this.#output.rows) ?? plausible(Number(this.#env["LINES"])) ?? usualSize.rows;
  }

  /** Writes a sequence that draws nothing: a bell, a title, a notification, the clipboard. */
  write(sequence: string): void {
    if (this.#isActive) void this.#send(sequence).catch(() => undefined);
  }

  /** From now on keys go to the listener alone. Returns what ends that. */
  captureKeys(listener: (key: Key) => void): () => void {
    const before = this.#capture;
    this.#capture = listener;
    return () => {
      this.#capture = before;
    };
  }

  /** Gives the terminal to another program until the work ends. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#isLent = true;
    await this.#deactivateInOrder();
    try {
      return await work();
    } finally {
      this.#isLent = false;
      this.#reactivate();
    }
  }

  /** Ctrl-Z: stops the process, and shows the screen again when it continues. */
  async stop(): Promise<void> {
    await this.#deactivateInOrder();
    this.#job.stop();
    // Runs after the process was continued, or at once if nothing may stop it.
    setTimeout(() => this.#reactivate(), 0);
  }

  /**
   * Removes the live region and gives the terminal back as it was. Synchronous, so that it works when the process
   * ends; does nothing if the terminal is restored already.
   */
  restore(): void {
    if (!this.#isActive) return;
    if (this.#isLeaving) return this.#deactivateInput();
    const pending = (this.#output.writableLength ?? 0) > 0 ? cancel : "";
    this.#writeNow(pending + frameOff + this.painter.pause() + modesOff);
    this.#deactivateInput();
  }

  /** Draws the last frame, waits until a readable terminal has it, and gives the terminal back. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isActive) {
      await withinTime(this.painter.close(), closeMs);
      await this.#deactivateInOrder();
    }
    for (const release of this.#release.splice(0)) release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #listen(): void {
    const onData = (chunk: Uint8Array | string): void =>
      this.#received(this.#decoder.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk));
    const onEnd = (): void => {
      this.#isGone = true;
      for (const resolve of this.#onAnswered.splice(0)) resolve();
      this.#events.end();
    };
    const onResize = (): void => {
      this.painter.resized();
      this.#events.resize?.();
    };
    this.#input.on("data", onData);
    this.#input.once("end", onEnd);
    this.#input.once("error", onEnd);
    this.#output.on("resize", onResize);
    this.#release.push(
      () => this.#input.off("data", onData).off("end", onEnd).off("error", onEnd),
      () => this.#output.off("resize", onResize),
      () => this.#forgetSilence(),
      this.#job.onExit(() => this.restore()),
      this.#job.onStop(() => void this.stop()),
      this.#job.onContinue(() => this.#continue()),
    );
  }

  /** After a stop without warning, the shell has changed modes and printed below the live region. */
  #continue(): void {
    if (this.#isActive) {
      this.painter.pause();
      if (!this.#isLeaving) this.write(modesOff);
      this.#deactivateInput();
    }
    this.#reactivate();
  }

  #received(items: readonly Decoded[]): void {
    for (const item of items) this.#receive(item);
    this.#forgetSilence();
    const { waitMs } = this.#decoder;
    if (waitMs === undefined) return;
    this.#silence = setTimeout(() => {
      // After long work, the timer is due before what has arrived meanwhile was read.
      this.#decision = setImmediate(() => this.#received(this.#decoder.flush()));
    }, waitMs);
  }

  #forgetSilence(): void {
    clearTimeout(this.#silence);
    clearImmediate(this.#decision);
  }

  #ask(text: string): void {
    if (this.#asked.count === 0) this.#asked.at = performance.now();
    this.#asked.count += 1;
    this.#decoder.expectsAnswers = true;
    this.write(text);
  }

  /** Resolves when the terminal has answered all questions, or when no answer can be expected any more. */
  async #answered(): Promise<void> {
    const leftMs = this.#asked.at + answersMs - performance.now();
    if (this.#asked.count === 0 || leftMs <= 0 || this.#isGone) return;
    await withinTime(new Promise((resolve) => void this.#onAnswered.push(resolve)), leftMs);
  }

  #receive(item: Decoded): void {
    switch (item.type) {
      case "key":
      case "paste":
        if (this.#isLeaving) break;
        if (this.#capture === undefined) this.#events.key(item);
        else this.#capture(item);
        break;
      case "focus":
        this.isFocused = item.isFocused;
        this.#events.focus?.(item.isFocused);
        break;
      case "background":
        this.#background = item.kind;
        this.#events.background?.(item.kind);
        break;
      case "drawn":
        refreshSize(this.#output);
        this.painter.confirm();
        break;
      case "attributes":
        this.#isSlow = performance.now() - this.#asked.at >= slowMs;
        this.#asked.count = Math.max(0, this.#asked.count - 1);
        if (this.#asked.count > 0) break;
        this.#decoder.expectsAnswers = false;
        for (const resolve of this.#onAnswered.splice(0)) resolve();
        break;
      case "paste_cut":
        this.#events.notice?.(`The paste was cut after ${item.keptChars} characters. Name a file instead.`);
        break;
      case "kitty_keys":
        this.#hasKittyKeys = true;
        break;
    }
  }

  #activate(): void {
    this.#isActive = true;
    setBlocking(this.#output, false);
    this.#input.setRawMode?.(true);
    this.#input.resume();
    this.write(resets + modesOn);
  }

  #reactivate(): void {
    if (this.#isActive || this.#isClosed || this.#isLent) return;
    this.#activate();
    this.painter.resume();
    // The size may have changed meanwhile.
    this.#events.resize?.();
  }

  #deactivateInput(): void {
    this.#isActive = false;
    this.#isLeaving = false;
    this.#input.pause();
    try {
      this.#input.setRawMode?.(false);
    } catch {
      // The terminal is gone.
    }
    setBlocking(this.#output, true);
  }

  /**
   * Like `restore`, after what is still being written, and after what the terminal still sends to cody: answers, and
   * keys that are encoded in kitty's way. The next program would take them for typed text.
   */
  async #deactivateInOrder(): Promise<void> {
    if (!this.#isActive) return;
    this.#isLeaving = true;
    await withinTime(
      this.#send(frameOff + this.painter.pause() + modesOff).catch(() => undefined),
      closeMs,
    );
    if ((this.#hasKittyKeys || this.#isSlow) && this.#asked.count === 0) this.#ask(lastQuestion);
    await this.#answered();
    if (this.#isActive) this.#deactivateInput();
  }

  #send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Writes past the stream, whose turn may never come. Gives up when the terminal does not read. */
  #writeNow(text: string): void {
    const { fd } = this.#output;
    if (fd === undefined) return void this.#output.write(text);
    let rest = Buffer.from(text);
    for (let attempts = 0; rest.length > 0 && attempts < writeAttempts; attempts += 1) {
      try {
        rest = rest.subarray(writeSync(fd, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, writeRetryMs);
      }
    }
  }
}

/**
 * Node writes to terminals synchronously: one that does not read (Ctrl-S, a slow connection) would stop the process.
 * libuv has opened the terminal anew, so this does not concern other processes. Without the method, writes block.
 */
function setBlocking(output: TtyOutput, isBlocking: boolean): void {
  // oxlint-disable-next-line no-underscore-dangle -- Node has no public way
  (output as { _handle?: { setBlocking?(isBlocking: boolean): unknown } })._handle?.setBlocking?.(isBlocking);
}

/**
 * The answer that follows a resize may be read before the signal about it. Emits `resize` if the size has changed.
 */
function refreshSize(output: TtyOutput): void {
  // oxlint-disable-next-line no-underscore-dangle -- Node has no public way
  (output as { _refreshSize?(): unknown })._refreshSize?.();
}

/** How the terminal treats its lines when it gets narrower; most break them. */
function reflowOf(env: ScreenOptions["env"]): Reflow {
  if (env["TMUX"] !== undefined) return "break";
  if (env["TERM_PROGRAM"] === "vscode") return "xterm_js";
  const cuts = env["XTERM_VERSION"] !== undefined || env["STY"] !== undefined || env["TERM"] === "linux";
  return cuts ? "cut" : "break";
}

function plausible(size: number | undefined): number | undefined {
  return size !== undefined && Number.isInteger(size) && size > 0 ? size : undefined;
}

async function withinTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => void (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
