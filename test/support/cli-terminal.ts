import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { commandRow, isCommandName } from "../../src/cli/arguments/command-table.js";
import { outputTo } from "../../src/cli/terminal/output.js";
import { runCommandLine } from "../../src/cli/run-command-line.js";
import type { SignalName, Terminal } from "../../src/cli/terminal/terminal.js";
import type { Provider } from "../../src/providers/provider.js";
import type { Tool } from "../../src/tools/tool.js";
import { temporaryFolder } from "./temporary-folder.js";

export interface FakeOptions {
  readonly tools?: readonly Tool[];
  /** Which of the streams are pipes or files instead of a terminal. */
  readonly notTTY?: readonly ("stdin" | "stdout" | "stderr")[];
  /** Stdout accepts one chunk at a time, with several event loop rounds in between. */
  readonly isSlow?: boolean;
  /** The reported width of the terminal; 80 by default. */
  readonly columns?: number;
  readonly home?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The clock, in milliseconds since 1970. */
  readonly now?: () => number;
  /** The flags that select the provider; the scripted model by default. */
  readonly answering?: readonly string[];
}

const scriptedFlags = ["--provider", "scripted", "--model", "scripted"];

/** An in-process terminal: keys go in, a screen comes out. */
export class FakeTerminal {
  readonly home: string;
  readonly cwd: string;
  readonly exits: number[] = [];
  readonly #stdin: PassThrough & { readonly isTTY: boolean };
  readonly #stdout: Screen;
  readonly #stderr: Screen;
  readonly #listeners = new Set<(name: SignalName) => void>();
  readonly #terminal: Terminal;
  readonly #answering: readonly string[];

  private constructor(home: string, cwd: string, provider: Provider, options: FakeOptions) {
    const { tools = [], notTTY = [], columns = 80, env = {}, answering = scriptedFlags } = options;
    this.home = home;
    this.cwd = cwd;
    this.#answering = answering;
    this.#stdin = Object.assign(new PassThrough(), { isTTY: !notTTY.includes("stdin") });
    this.#stdout = new Screen(!notTTY.includes("stdout"), columns, options.isSlow);
    this.#stderr = new Screen(!notTTY.includes("stderr"), columns);
    this.#terminal = {
      env: { CODY_HOME: home, ...env },
      cwd,
      homedir: cwd,
      stdin: this.#stdin,
      isStdinPiped: false,
      stdout: outputTo(this.#stdout),
      stderr: outputTo(this.#stderr),
      providers: [provider],
      tools,
      ...(options.now === undefined ? {} : { now: options.now }),
      onSignal: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      onCrash: () => () => undefined,
      exit: (code) => this.exits.push(code),
    };
  }

  static async open(provider: Provider, options: FakeOptions = {}): Promise<FakeTerminal> {
    const { home = await temporaryFolder(), cwd = await temporaryFolder() } = options;
    return new FakeTerminal(home, cwd, provider, options);
  }

  /** Runs a command; resolves with the exit code. */
  run(...args: string[]): Promise<number> {
    const [name = ""] = args;
    const isAnswered = !isCommandName(name) || commandRow(name).flags.includes("provider");
    const running = runCommandLine([...(isAnswered ? this.#answering : []), ...args], this.#terminal);
    onTestFinished(async () => {
      // A test that failed half way leaves a prompt open.
      this.#stdin.end();
      await running;
    });
    return running;
  }

  type(keys: string): void {
    this.#stdin.write(keys);
  }

  /** Closes stdin. */
  hangUp(): void {
    this.#stdin.end();
  }

  signal(name: SignalName): void {
    for (const listener of this.#listeners) listener(name);
  }

  /** Resolves when this text has been written after the text that was awaited before. */
  async shows(text: string): Promise<void> {
    await this.#stdout.shows(text);
  }

  async tells(text: string): Promise<void> {
    await this.#stderr.shows(text);
  }

  /** The number of listeners on its streams and signals, to detect leaks. */
  get listeners(): number {
    const streams = [this.#stdin, this.#stdout, this.#stderr];
    const counts = streams.flatMap((stream) => stream.eventNames().map((name) => stream.listenerCount(name)));
    return counts.reduce((sum, count) => sum + count, this.#listeners.size);
  }

  get screen(): string {
    return this.#stdout.text;
  }

  get errors(): string {
    return this.#stderr.text;
  }
}

class Screen extends PassThrough {
  readonly isTTY: boolean;
  readonly columns: number;
  text = "";
  #seen = 0;
  #onText: (() => void) | undefined;

  constructor(isTTY: boolean, columns: number, isSlow = false) {
    super();
    this.isTTY = isTTY;
    this.columns = columns;
    this.on("data", (chunk: Buffer) => {
      this.text += chunk.toString();
      this.#onText?.();
      if (!isSlow) return;
      this.pause();
      void loopRounds(10).then(() => this.resume());
    });
  }

  async shows(text: string): Promise<void> {
    for (;;) {
      const found = this.text.indexOf(text, this.#seen);
      if (found !== -1) {
        this.#seen = found + text.length;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#onText = resolve;
      });
    }
  }
}

async function loopRounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
