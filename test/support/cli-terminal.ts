import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { outputTo } from "../../src/cli/output.js";
import { runCommandLine } from "../../src/cli/run-command-line.js";
import type { SignalName, Terminal } from "../../src/cli/terminal.js";
import type { Provider } from "../../src/providers/provider.js";
import { temporaryFolder } from "./temporary-folder.js";

/** A terminal without a process: keys go in, a screen comes out. */
export class FakeTerminal {
  readonly home: string;
  readonly exits: number[] = [];
  readonly #stdin = Object.assign(new PassThrough(), { isTTY: true });
  readonly #stdout = new Screen();
  readonly #stderr = new Screen();
  readonly #listeners = new Set<(name: SignalName) => void>();
  readonly #terminal: Terminal;

  private constructor(home: string, cwd: string, provider: Provider) {
    this.home = home;
    this.#terminal = {
      env: { CODY_HOME: home },
      cwd,
      homedir: cwd,
      stdin: this.#stdin,
      stdout: outputTo(this.#stdout),
      stderr: outputTo(this.#stderr),
      providers: [provider],
      onSignal: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      onCrash: () => () => undefined,
      exit: (code) => this.exits.push(code),
    };
  }

  static async open(provider: Provider): Promise<FakeTerminal> {
    return new FakeTerminal(await temporaryFolder(), await temporaryFolder(), provider);
  }

  /** Runs a command with the scripted model; resolves with the exit code. */
  run(...args: string[]): Promise<number> {
    const running = runCommandLine(["--provider", "scripted", "--model", "scripted", ...args], this.#terminal);
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

  signal(name: SignalName): void {
    for (const listener of this.#listeners) listener(name);
  }

  /** Resolves when this has been written behind what was waited for before. */
  async shows(text: string): Promise<void> {
    await this.#stdout.shows(text);
  }

  async tells(text: string): Promise<void> {
    await this.#stderr.shows(text);
  }

  get screen(): string {
    return this.#stdout.text;
  }

  get errors(): string {
    return this.#stderr.text;
  }
}

class Screen extends PassThrough {
  readonly isTTY = true;
  readonly columns = 80;
  text = "";
  #seen = 0;
  #onText: (() => void) | undefined;

  constructor() {
    super();
    this.on("data", (chunk: Buffer) => {
      this.text += chunk.toString();
      this.#onText?.();
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
