import * as pty from "@lydell/node-pty";
import { setTimeout as setTimer } from "node:timers";
import { setTimeout } from "node:timers/promises";
import { Emulator, type EmulatorOptions } from "./emulator.js";
import { SlowLine } from "./slow-line.js";

export interface PtyProgramOptions extends EmulatorOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The time that each direction between the terminal and the program takes, as over ssh. */
  readonly latencyMs?: number;
}

export interface Exit {
  readonly exitCode: number;
  readonly signal?: number | undefined;
}

const patienceMs = 20_000;

/** A program in a pseudo-terminal whose screen an emulator draws. It is killed when disposed. */
export class PtyProgram implements AsyncDisposable {
  readonly emulator: Emulator;
  readonly ended: Promise<Exit>;
  readonly #pty: pty.IPty;
  readonly #toProgram: SlowLine | undefined;
  readonly #toTerminal: SlowLine | undefined;
  readonly #onChange: (() => void)[] = [];
  #isGone = false;
  #exit: Exit | undefined;
  #drawn: Promise<void> = Promise.resolve();

  private constructor(argv: readonly [string, ...string[]], options: PtyProgramOptions) {
    const { cwd, env, latencyMs } = options;
    const [file, ...args] = argv;
    this.emulator = new Emulator(options);
    this.#pty = pty.spawn(file, args, { cols: this.emulator.columns, rows: this.emulator.rows, cwd, env });
    this.emulator.onAnswer((text) => this.type(text));
    if (latencyMs !== undefined) {
      this.#toProgram = new SlowLine(latencyMs, (piece) => this.#write(piece));
      this.#toTerminal = new SlowLine(latencyMs, (piece) => void (this.#drawn = this.#draw(piece)));
    }
    this.#pty.onData((text) => {
      if (this.#toTerminal === undefined) this.#drawn = this.#draw(text);
      else this.#toTerminal.push(text);
    });
    this.ended = new Promise((resolve) => {
      this.#pty.onExit((exit) => {
        this.#isGone = true;
        const report = (): void => {
          this.#exit = exit;
          this.#changed();
          resolve(exit);
        };
        // Its last words are still on their way.
        if (this.#toTerminal === undefined) report();
        else this.#toTerminal.push(report);
      });
    });
  }

  static start(argv: readonly [string, ...string[]], options: PtyProgramOptions): PtyProgram {
    return new PtyProgram(argv, options);
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Types a text; control characters and sequences are keys. */
  type(text: string): void {
    if (this.#toProgram === undefined) this.#write(text);
    else this.#toProgram.push(text);
  }

  /** Types a text that has been on its way for so long that it arrives now. */
  arrive(text: string): void {
    this.#write(text);
  }

  /** Calls the listener with what the program writes, before it is drawn. Returns what removes it. */
  onOutput(listener: (text: string) => void): () => void {
    const registration = this.#pty.onData(listener);
    return () => registration.dispose();
  }

  resize({ columns, rows }: { readonly columns: number; readonly rows: number }): void {
    this.emulator.resize({ columns, rows });
    const resizePty = (): void => {
      if (!this.#isGone) this.#pty.resize(columns, rows);
    };
    if (this.#toProgram === undefined) resizePty();
    else this.#toProgram.push(resizePty);
  }

  /** Resolves as soon as the visible screen contains the text or matches the pattern. */
  async shows(expected: string | RegExp): Promise<void> {
    await this.until(`shows ${String(expected)}`, () => {
      const text = this.emulator.screen().join("\n");
      return typeof expected === "string" ? text.includes(expected) : expected.test(text);
    });
  }

  /** Resolves as soon as the condition is met; it is checked again whenever the screen has changed. */
  async until(what: string, isMet: () => boolean): Promise<void> {
    let isLate = false;
    const timer = setTimer(() => {
      isLate = true;
      this.#changed();
    }, patienceMs);
    try {
      while (!isMet()) {
        if (isLate || this.#exit !== undefined) {
          const why = isLate ? `waited ${patienceMs} ms` : `it ended with code ${this.#exit?.exitCode}`;
          throw new Error(`The program never ${what}: ${why}. Its screen:\n${this.emulator.screen().join("\n")}`);
        }
        await new Promise<void>((resolve) => void this.#onChange.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Resolves when nothing was drawn for a while, or after some seconds if something always moves. For pictures and
   * measurements; tests wait for what they expect.
   */
  async quiet(ms = 300, mostMs = 3_000): Promise<void> {
    const begin = performance.now();
    let last = begin;
    const remove = this.onOutput(() => (last = performance.now()));
    while (performance.now() - last < ms && performance.now() - begin < mostMs) await setTimeout(ms / 4);
    remove();
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.#isGone) this.#pty.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("SIGKILL");
    this.#toProgram?.close();
    await this.ended;
    this.#toTerminal?.close();
    await this.#drawn;
  }

  #write(text: string): void {
    if (!this.#isGone) this.#pty.write(text);
  }

  async #draw(text: string): Promise<void> {
    await this.emulator.write(text);
    this.#changed();
  }

  #changed(): void {
    for (const resolve of this.#onChange.splice(0)) resolve();
  }
}
