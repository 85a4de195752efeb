import type { Interface } from "node:readline";
import { Writable } from "node:stream";
import { type OutputStream, reportedColumns } from "../output.js";
import type { Input } from "../terminal.js";

/** Terminal sequences that turn bracketed paste on and off. */
const [markPastes, leavePastes] = ["\u001b[?2004h", "\u001b[?2004l"];

const maxLines = 200;

interface PromptListener {
  line(text: string): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** Ctrl-D, or the terminal is gone. */
  end(): void;
}

export const promptMark = "› ";
/** Precedes the lines of a paste after the first. */
const furtherText = "  ";

interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

/** The line editor of the terminal. While it is hidden, typed text is kept, and shown when the prompt returns. */
export class Prompt {
  readonly #input: Input;
  /** Stands before what is typed. */
  readonly #mark: string;
  readonly #output: PromptOutput;
  readonly #pastes: Pastes;
  readonly #listener: PromptListener;
  readonly #create: () => Interface;
  readonly #history = new LineHistory();
  #readline: Interface;
  #onAnswer: ((text: string | undefined) => void) | undefined;
  #closed = false;
  readonly #onKey = (_text: unknown, key: Key): void => {
    const direction = directionOf(key);
    // While a question is open there is no history: answers are not recorded.
    if (direction === undefined || this.#closed || this.#onAnswer !== undefined) return;
    const line = this.#history.move(direction, this.#readline.line);
    if (line === undefined) return;
    this.#clearLine();
    this.#readline.write(line);
  };

  private constructor(
    input: Input,
    output: PromptOutput,
    { listener, mark, create }: { listener: PromptListener; mark: string; create: () => Interface },
  ) {
    this.#mark = mark;
    this.#input = input;
    this.#output = output;
    this.#pastes = new Pastes(input);
    this.#listener = listener;
    this.#create = create;
    this.#readline = this.#open();
    input.on("keypress", this.#onKey);
  }

  static async open(
    input: Input,
    stream: OutputStream,
    listener: PromptListener,
    mark: string = promptMark,
  ): Promise<Prompt> {
    // Imported here, because only interactive runs need it.
    const { createInterface } = await import("node:readline");
    const output = new PromptOutput(stream);
    // Readline's own history is off, because it drops the text after the cursor.
    const create = (): Interface => createInterface({ input, output, terminal: true, prompt: mark, historySize: 0 });
    return new Prompt(input, output, { listener, mark, create });
  }

  get isEmpty(): boolean {
    return this.#readline.line === "" && this.#pastes.lines.length === 0;
  }

  /** From now on, a paste of several lines is one text. */
  markPastes(): void {
    this.#output.markPastes();
  }

  /** Does nothing after the terminal is gone: newer versions of Node complain about a closed prompt. */
  show(): void {
    if (this.#closed) return;
    const wasHidden = this.#output.hidden;
    this.#output.hidden = false;
    if (wasHidden) this.#showPasted();
    this.#readline.prompt(true);
  }

  #showPasted(): void {
    const lines = this.#pastes.lines.map((line, index) => `${index === 0 ? this.#mark : furtherText}${line}\n`);
    if (lines.length > 0) this.#output.write(lines.join(""));
  }

  hide(): void {
    this.#output.hidden = true;
  }

  /** Discards the typed text. */
  clear(): void {
    if (this.#closed) return;
    this.#pastes.clear();
    this.#history.reset();
    this.#readline.setPrompt(this.#mark);
    this.#clearLine();
  }

  #clearLine(): void {
    this.#readline.write(null, { ctrl: true, name: "e" });
    this.#readline.write(null, { ctrl: true, name: "u" });
  }

  /**
   * Asks a question and resolves with the line typed after it was shown. Text typed before stays queued, including an
   * unfinished line. Undefined if there is no answer: Ctrl-D, an aborted signal, or a closed terminal.
   */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    await waitForTypedInput();
    if (this.#closed || signal.aborted) return undefined;
    const typed = { lines: this.#pastes.setAside(), line: this.#readline.line };
    this.#clearLine();
    this.#readline.setPrompt(question);
    this.show();
    const answer = await this.#answer(signal);
    if (answer === undefined) this.#output.write("\n");
    this.hide();
    if (this.#closed) return answer;
    this.#pastes.clear();
    this.#readline.setPrompt(this.#mark);
    this.#clearLine();
    this.#pastes.putBack(typed.lines);
    if (typed.lines.length > 0) this.#readline.setPrompt(furtherText);
    this.#readline.write(typed.line);
    return answer;
  }

  close(): void {
    this.#readline.close();
    this.#output.release();
    this.#pastes.release();
    this.#input.off("keypress", this.#onKey);
  }

  #answer(signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      const answer = (text: string | undefined): void => {
        this.#onAnswer = undefined;
        signal.removeEventListener("abort", onAbort);
        resolve(text);
      };
      const onAbort = (): void => answer(undefined);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#onAnswer = answer;
    });
  }

  #open(): Interface {
    const readline = this.#create();
    readline.on("line", (line) => {
      if (this.#onAnswer === undefined) this.#history.add(line);
      const text = this.#pastes.take(line);
      readline.setPrompt(text === undefined ? furtherText : this.#mark);
      if (text === undefined) readline.prompt();
      else if (this.#onAnswer === undefined) this.#listener.line(text);
      else this.#onAnswer(text);
    });
    readline.on("SIGINT", () => this.#listener.interrupt());
    readline.on("close", () => this.#onClose());
    return readline;
  }

  /** Ctrl-D at a question means no answer; it does not end the run. */
  #onClose(): void {
    const answer = this.#onAnswer;
    const isOpen = this.#input.readable && answer !== undefined;
    if (isOpen) this.#readline = this.#open();
    else this.#closed = true;
    answer?.(undefined);
    if (!isOpen) this.#listener.end();
  }
}

function directionOf({ name, ctrl = false, meta = false }: Key): "older" | "newer" | undefined {
  if (meta) return undefined;
  if (name === (ctrl ? "p" : "up")) return "older";
  return name === (ctrl ? "n" : "down") ? "newer" : undefined;
}

/** Waits until the event loop has read the text that was typed into the terminal's buffer. */
async function waitForTypedInput(): Promise<void> {
  for (let rounds = 0; rounds < 2; rounds += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * The sent lines, for the Up and Down keys. Unlike readline's own history it never drops text: the line being typed,
 * and each change to a recalled one, are kept until a line is sent or discarded.
 */
class LineHistory {
  /** Newest first. */
  readonly #sent: string[] = [];
  /** Unsent text by place, for places that were left. */
  readonly #typed = new Map<number, string>();
  /** 0 is the line being typed, 1 the newest sent line. */
  #place = 0;

  /** Returns the text one place back or forward; undefined at the ends. `line` is the text at the place being left. */
  move(direction: "older" | "newer", line: string): string | undefined {
    const place = this.#place + (direction === "older" ? 1 : -1);
    if (place < 0 || place > this.#sent.length) return undefined;
    this.#typed.set(this.#place, line);
    this.#place = place;
    return this.#typed.get(place) ?? this.#sent[place - 1];
  }

  add(line: string): void {
    this.reset();
    if (line.trim() === "" || line === this.#sent[0]) return;
    this.#sent.unshift(line);
    this.#sent.length = Math.min(this.#sent.length, maxLines);
  }

  /** Forgets unsent text. */
  reset(): void {
    this.#place = 0;
    this.#typed.clear();
  }
}

/** Pasted lines that were not sent yet: line breaks in a paste are text, and only the Enter key sends. */
class Pastes {
  readonly #input: Input;
  readonly #lines: string[] = [];
  #isPasting = false;
  readonly #onKey = (_text: unknown, { name }: { readonly name?: string }): void => {
    if (name === "paste-start") this.#isPasting = true;
    if (name === "paste-end") this.#isPasting = false;
  };

  constructor(input: Input) {
    this.#input = input;
    input.on("keypress", this.#onKey);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Returns the text to send when a line ends; undefined while the line is part of a paste. */
  take(line: string): string | undefined {
    this.#lines.push(line);
    return this.#isPasting ? undefined : this.#lines.splice(0).join("\n");
  }

  /** Discards the lines, and an unfinished paste with them. */
  clear(): void {
    this.#isPasting = false;
    this.#lines.length = 0;
  }

  /** Removes the lines until they are put back. A running paste continues. */
  setAside(): string[] {
    return this.#lines.splice(0);
  }

  putBack(lines: readonly string[]): void {
    this.#lines.push(...lines);
  }

  release(): void {
    this.#input.off("keypress", this.#onKey);
  }
}

/** Readline's output, which can be hidden so that it does not draw into an answer. */
class PromptOutput extends Writable {
  hidden = true;
  #marksPastes = false;
  readonly #stream: OutputStream;
  readonly #onResize = (): void => void this.emit("resize");

  constructor(stream: OutputStream) {
    super({ decodeStrings: false });
    this.#stream = stream;
    stream.on("resize", this.#onResize);
  }

  /** If unknown, readline assumes that a line takes one row. */
  get columns(): number | undefined {
    return reportedColumns(this.#stream);
  }

  /** Only for terminals that support it: others would print the sequence as text. */
  markPastes(): void {
    this.#marksPastes = true;
    this.#stream.write(markPastes);
  }

  /** Restores the stream, which is used further. */
  release(): void {
    if (this.#marksPastes) this.#stream.write(leavePastes);
    this.#stream.off("resize", this.#onResize);
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, callback: () => void): void {
    if (!this.hidden) this.#stream.write(chunk);
    callback();
  }
}
