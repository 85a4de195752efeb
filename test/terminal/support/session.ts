import { onTestFinished } from "vitest";
import type { MockReply } from "../../../src/mock-llm/script.js";
import type { MockLlm } from "../../../src/mock-llm/server.js";
import { Cli, commandOf } from "../../support/cli.js";
import { openMock } from "../../support/open-mock-llm.js";
import type { Emulator, Size } from "./emulator.js";
import { PtyProgram } from "./pty-program.js";

export interface SessionOptions {
  readonly size?: Partial<Size>;
  /** The time that each direction between the terminal and cody takes. */
  readonly latencyMs?: number;
  /** The colour that the terminal reports, `rgb:ffff/ffff/ffff`. */
  readonly background?: string;
  /** Runs cody in this shell command, where it is `"$@"`. */
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The home and project; a new one by default. */
  readonly cli?: Cli;
  /** What the model answers; without a script, the offline model answers. */
  readonly script?: readonly MockReply[];
  /** Does not wait for the editor. */
  readonly isOther?: boolean;
}

/** Keys by name, as the terminal sends them. */
export const keys = {
  enter: "\r",
  escape: "\u001b",
  tab: "\t",
  up: "\u001b[A",
  down: "\u001b[B",
  backspace: "\u007f",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlG: "\u0007",
  ctrlK: "\u000b",
  ctrlL: "\u000c",
  ctrlO: "\u000f",
  ctrlU: "\u0015",
  alt: (key: string) => `\u001b${key}`,
} as const;

/** The built command line in a pseudo-terminal that an emulator draws. */
export class TerminalSession {
  readonly cli: Cli;
  /** The model; undefined for the offline model. */
  readonly mock: MockLlm | undefined;
  readonly program: PtyProgram;

  private constructor(cli: Cli, mock: MockLlm | undefined, args: readonly string[], options: SessionOptions) {
    this.cli = cli;
    this.mock = mock;
    const { latencyMs, background, shell } = options;
    const command = commandOf(args);
    this.program = PtyProgram.start(shell === undefined ? command : ["sh", "-c", shell, "sh", ...command], {
      ...options.size,
      ...(latencyMs === undefined ? {} : { latencyMs }),
      ...(background === undefined ? {} : { background }),
      cwd: cli.project,
      env: { ...cli.env, TERM: "xterm-256color", LANG: "C.UTF-8", ...modelEnv(mock), ...options.env },
    });
    onTestFinished(() => this.program[Symbol.asyncDispose]());
  }

  static async open(args: readonly string[] = [], options: SessionOptions = {}): Promise<TerminalSession> {
    const cli = options.cli ?? (await Cli.open({ spawned: true }));
    const mock = options.script === undefined ? undefined : await openMock({ script: [...options.script] });
    const session = new TerminalSession(cli, mock, args, options);
    if (options.isOther !== true) await session.prompts();
    return session;
  }

  get emulator(): Emulator {
    return this.program.emulator;
  }

  get screen(): string[] {
    return this.emulator.screen();
  }

  /** The screen as one text, to be compared as a whole. */
  get text(): string {
    return this.screen.join("\n");
  }

  /** The bytes of the keyboard. */
  type(text: string): void {
    this.program.type(text);
  }

  /** Types a line and sends it, when the editor shows it. */
  async enter(line: string): Promise<void> {
    this.type(line);
    await this.shows(`› ${line}`);
    this.type(keys.enter);
  }

  paste(text: string): void {
    this.type(`\u001b[200~${text.replaceAll("\n", "\r")}\u001b[201~`);
  }

  resize(size: Partial<Size>): void {
    const { columns, rows } = this.emulator;
    this.program.resize({ columns, rows, ...size });
  }

  async shows(text: string): Promise<void> {
    await this.program.shows(text);
  }

  async hides(text: string): Promise<void> {
    await this.program.until(`hides ${text}`, () => !this.text.includes(text));
  }

  /** Resolves when there is an empty editor. */
  async prompts(): Promise<void> {
    await this.program.until("prompts", () => this.screen.some((line) => line.trim() === "›"));
  }

  /** Resolves with the exit code when the process has ended. */
  async ends(): Promise<number> {
    return (await this.program.ended).exitCode;
  }
}

function modelEnv(mock: MockLlm | undefined): Record<string, string> {
  if (mock === undefined) return {};
  return { OPENAI_API_KEY: "sk-test-0123456789", OPENAI_BASE_URL: `${mock.url}/v1`, CODY_MODEL: "gpt-5" };
}
