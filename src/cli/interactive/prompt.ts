import type { Interface } from "node:readline";
import { Writable } from "node:stream";
import type { OutputStream } from "../output.js";
import type { Input } from "../terminal.js";

export interface PromptListener {
  line(text: string): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** Ctrl-D, or the terminal is gone. */
  end(): void;
}

const promptText = "› ";
const historySize = 200;

/** The line a person types into. While it is hidden, what is typed is kept and shown when it comes back. */
export class Prompt {
  readonly #readline: Interface;
  readonly #output: PromptOutput;
  #closed = false;

  private constructor(readline: Interface, output: PromptOutput) {
    this.#readline = readline;
    this.#output = output;
    readline.on("close", () => {
      this.#closed = true;
    });
  }

  static async open(input: Input, stream: OutputStream, listener: PromptListener): Promise<Prompt> {
    // Loaded here, because only a person at a terminal needs it.
    const { createInterface } = await import("node:readline");
    const output = new PromptOutput(stream);
    const readline = createInterface({ input, output, terminal: true, prompt: promptText, historySize });
    readline.on("line", (text) => listener.line(text));
    readline.on("SIGINT", () => listener.interrupt());
    readline.on("close", () => listener.end());
    return new Prompt(readline, output);
  }

  get isEmpty(): boolean {
    return this.#readline.line === "";
  }

  /** The terminal may be gone by now, and newer versions of Node complain about a prompt nobody can see. */
  show(): void {
    if (this.#closed) return;
    this.#output.hidden = false;
    this.#readline.prompt(true);
  }

  hide(): void {
    this.#output.hidden = true;
  }

  /** Throws away what has been typed. */
  clear(): void {
    if (this.#closed) return;
    this.#readline.write(null, { ctrl: true, name: "e" });
    this.#readline.write(null, { ctrl: true, name: "u" });
  }

  close(): void {
    this.#readline.close();
  }
}

/** What readline draws, so that it can be kept from drawing into an answer. */
class PromptOutput extends Writable {
  hidden = true;
  readonly #stream: OutputStream;

  constructor(stream: OutputStream) {
    super({ decodeStrings: false });
    this.#stream = stream;
    stream.on("resize", () => this.emit("resize"));
  }

  get columns(): number | undefined {
    return this.#stream.columns;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, callback: () => void): void {
    if (!this.hidden) this.#stream.write(chunk);
    callback();
  }
}
